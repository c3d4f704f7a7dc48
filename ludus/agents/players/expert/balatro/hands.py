"""Plays and discards: every play is scored exactly, and discards are simulated with random draws."""

import numpy as np

from ludus.dsl import random, rule
from ludus.games.balatro import actions, deck, trial_score
from ludus.games.balatro.actions import REACH, SIZES, SUBSET_OF, SUBSETS
from ludus.games.balatro.state import MOST_PLAYED
from ludus.games.balatro.tables import blinds, cards, hands
from ludus.games.balatro.tables.rules import FOUR_FINGERS, SMEARED, SPLASH

PLACES = np.zeros((len(SUBSETS), MOST_PLAYED), np.int64)
"""the cards of each subset"""
for _index, _bits in enumerate(SUBSETS):
    PLACES[_index, : SIZES[_index]] = [place for place in range(REACH) if int(_bits) >> place & 1]
NATURAL = np.full(hands.HANDS, MOST_PLAYED)
NATURAL[[hands.HIGH_CARD, hands.PAIR, hands.THREE_OF_A_KIND, hands.TWO_PAIR, hands.FOUR_OF_A_KIND]] = 1, 2, 3, 4, 4
"""number of cards that make each poker hand"""
ENHANCED_CHIPS = np.zeros(9)
ENHANCED_CHIPS[[cards.BONUS, cards.MULT, cards.GLASS, cards.LUCKY, cards.STONE]] = 30.0, 40.0, 60.0, 25.0, 50.0
FLUSHES, TWINS, BEST_RANK, STRAIGHTS, PLANS = 0, 4, 5, 6, 16
"""plans: a flush of each suit, equal ranks, the most frequent rank, and a straight from each of ten ranks"""
QUICKLY, THOROUGHLY, FINALISTS = 8, 24, 3
"""simulated rounds for each candidate and for each finalist, and number of finalists"""


@rule
def look_at_cards(work):
    """Write ranks, suits and chips of the cards in hand to `work`."""
    scenario = work.scenario
    smeared = scenario.rules & SMEARED != 0
    for place in range(min(np.int64(scenario.hand_count), REACH)):
        card = scenario.cards[scenario.hand[place]]
        work.rank[place] = card.rank
        suit = np.int64(card.suit)
        alike = suit if not smeared else (cards.CLUBS if suit == cards.SPADES else cards.SPADES)
        if smeared and (suit == cards.HEARTS or suit == cards.DIAMONDS):
            alike = cards.HEARTS if suit == cards.DIAMONDS else cards.DIAMONDS
        bits = (1 << (4 * suit)) | (1 << (4 * alike))
        if card.enhancement == cards.WILD:
            bits = 0x1111
        work.stone[place] = card.enhancement == cards.STONE
        work.suits[place] = 0 if card.enhancement == cards.STONE else bits
        chips = cards.RANK_CHIPS[card.rank] + card.chips + ENHANCED_CHIPS[card.enhancement] + 30.0 * (card.edition > 0)
        work.chips[place] = 0.0 if card.flags & cards.DEBUFFED else chips


@rule
def kind_of(work, index, need):
    """The approximate poker hand of a subset of the cards in hand."""
    counts = 0
    suits = 0
    ranks = 0
    most = 0
    pairs = 0
    size = SIZES[index]
    for nth in range(size):
        place = PLACES[index, nth]
        suits += work.suits[place]
        if work.stone[place]:
            continue
        rank = work.rank[place]
        found = ((counts >> (4 * rank)) & 15) + 1
        counts += 1 << (4 * rank)
        ranks |= 1 << rank
        most = max(most, found)
        pairs += found == 2
    flush = size >= need and has_flush(suits, need)
    low = (ranks << 1) | ((ranks >> cards.ACE) & 1)
    run = low & (low >> 1) & (low >> 2) & (low >> 3)
    if need == MOST_PLAYED:
        run &= low >> 4
    straight = size >= need and run != 0
    if most >= 5:
        return hands.FLUSH_FIVE if flush else hands.FIVE_OF_A_KIND
    if flush and straight:
        return hands.STRAIGHT_FLUSH
    if most >= 4:
        return hands.FOUR_OF_A_KIND
    if most == 3 and pairs >= 2:
        return hands.FLUSH_HOUSE if flush else hands.FULL_HOUSE
    if flush:
        return hands.FLUSH
    if straight:
        return hands.STRAIGHT
    if most == 3:
        return hands.THREE_OF_A_KIND
    if pairs >= 2:
        return hands.TWO_PAIR
    return hands.PAIR if pairs else hands.HIGH_CARD


@rule
def has_flush(suits, need):
    for suit in range(4):
        if (suits >> (4 * suit)) & 15 >= need:
            return True
    return False


@rule
def strength(work):
    """The best score of the scenario's hand, trying for every poker hand the play with the most chips."""
    scenario = work.scenario
    trial = work.trial
    look_at_cards(work)
    count = min(np.int64(scenario.hand_count), REACH)
    need = 4 if scenario.rules & FOUR_FINGERS else MOST_PLAYED
    all_five = deck.boss_effect(scenario) == blinds.FIVE_CARDS or scenario.rules & SPLASH != 0
    for hand in range(hands.HANDS):
        work.most_chips[hand] = -1.0
    for index in range(len(SUBSETS)):
        if SUBSETS[index] >> count:
            continue
        hand = kind_of(work, index, need)
        if SIZES[index] != (MOST_PLAYED if all_five else min(NATURAL[hand], need if hand != hands.FULL_HOUSE else 5)):
            continue
        chips = 0.0
        for nth in range(SIZES[index]):
            chips += work.chips[PLACES[index, nth]]
        if chips > work.most_chips[hand]:
            work.most_chips[hand] = chips
            work.likely[hand] = index
    trial.hand_count = scenario.hand_count
    for place in range(scenario.hand_count):
        trial.hand[place] = scenario.hand[place]
    best = -1.0
    for hand in range(hands.HANDS):
        if work.most_chips[hand] >= 0.0:
            score = trial_score.score_of(trial, scenario, SUBSETS[work.likely[hand]])
            if score > best:
                best = score
                work.chosen = SUBSETS[work.likely[hand]]
    return max(best, 0.0)


@rule
def fits(work, plan, place):
    """Whether a plan keeps a card of the scenario's hand."""
    scenario = work.scenario
    card = scenario.cards[scenario.hand[place]]
    if plan < TWINS:
        return card.enhancement == cards.WILD or card.suit == plan
    if plan == TWINS:
        for other in range(scenario.hand_count):
            if other != place and scenario.cards[scenario.hand[other]].rank == card.rank:
                return True
        return False
    if plan == BEST_RANK:
        return card.rank == work.wanted
    low = plan - STRAIGHTS  # 0 is ace to five, 9 is ten to ace
    rank = 0 if card.rank == cards.ACE and low == 0 else np.int64(card.rank) + 1
    if not low <= rank <= low + 4:
        return False
    for other in range(place):
        if scenario.cards[scenario.hand[other]].rank == card.rank:
            return False
    return True


@rule
def choose_rank(work):
    """Find the most frequent rank of the scenario's hand, the higher if several are equal."""
    scenario = work.scenario
    most = 0
    for place in range(scenario.hand_count):
        rank = np.int64(scenario.cards[scenario.hand[place]].rank)
        found = 0
        for other in range(scenario.hand_count):
            found += scenario.cards[scenario.hand[other]].rank == rank
        if found > most or (found == most and rank > work.wanted):
            most = found
            work.wanted = rank


@rule
def throw(work, plan):
    """Bits of the lowest cards, at most five, that a plan does not keep; 0 if it is fulfilled."""
    scenario = work.scenario
    count = min(np.int64(scenario.hand_count), REACH)
    unfit = 0
    kept = 0
    for place in range(count):
        if fits(work, plan, place):
            kept += 1
        else:
            unfit |= 1 << place
    if kept >= MOST_PLAYED and plan != TWINS:
        return 0
    return lowest_cards(scenario, unfit, MOST_PLAYED)


@rule
def lowest_cards(scenario, bits, most):
    """Bits of the lowest of some cards in hand, at most `most`."""
    chosen = 0
    for _ in range(most):
        lowest = -1
        for place in range(REACH):
            if (bits >> place) & 1:
                if lowest < 0 or rank_in_hand(scenario, place) < rank_in_hand(scenario, lowest):
                    lowest = place
        if lowest < 0:
            break
        chosen |= 1 << lowest
        bits &= ~(1 << lowest)
    return chosen


@rule
def rank_in_hand(scenario, place):
    return np.int64(scenario.cards[scenario.hand[place]].rank)


@rule
def exchange(work, bits):
    """Replace cards of the scenario's hand by random draws; drawn cards move behind the rest of the pile."""
    scenario = work.scenario
    for place in range(REACH):
        if (bits >> place) & 1 and scenario.pile_count > 0:
            drawn = random.below(work, scenario.pile_count)
            scenario.pile_count -= 1
            number = scenario.pile[drawn]
            scenario.pile[drawn] = scenario.pile[scenario.pile_count]
            scenario.pile[scenario.pile_count] = number
            scenario.hand[place] = number


@rule
def follow(work, plan, discards, first):
    """Follow a plan with random draws, starting with the discard `first`; returns the best score of the final hand."""
    bits = first
    for _ in range(discards):
        if bits == 0:
            break
        exchange(work, bits)
        bits = throw(work, plan)
    return strength(work)


@rule
def promising(work, plan):
    """Whether at least three cards fit a flush or straight; plans for equal ranks are always promising."""
    if plan == TWINS or plan == BEST_RANK:
        return True
    kept = 0
    for place in range(min(np.int64(work.scenario.hand_count), REACH)):
        kept += fits(work, plan, place)
    return kept >= 3


@rule
def simple_plan(work):
    """A plan chosen quickly: a flush if four cards fit it, else equal ranks."""
    for plan in range(FLUSHES, TWINS):
        kept = 0
        for place in range(min(np.int64(work.scenario.hand_count), REACH)):
            kept += fits(work, plan, place)
        if kept >= 4:
            return plan
    return TWINS


@rule
def play_on(work, needed):
    """Play the scenario's round by simple rules: 1 if it is won, else a fraction of the required score."""
    scenario = work.scenario
    asked = needed
    while scenario.hands_left > 0:
        work.trial.hands_left = scenario.hands_left
        work.trial.discards_left = scenario.discards_left
        score = strength(work)
        if score >= needed:
            return 1.0
        if score * scenario.hands_left < needed and scenario.discards_left > 0 and scenario.pile_count > 0:
            away = throw(work, simple_plan(work))
            if away:
                scenario.discards_left -= 1
                exchange(work, away)
                continue
        needed -= score
        scenario.hands_left -= 1
        exchange(work, with_junk(work))
    return 0.2 * (1.0 - needed / asked)


@rule
def with_junk(work):
    """The chosen play, filled up to five cards with low cards without an equal rank."""
    bits = np.int64(work.chosen)
    junk = 0
    chosen = 0
    for place in range(min(np.int64(work.scenario.hand_count), REACH)):
        if (bits >> place) & 1:
            chosen += 1
        elif not fits(work, TWINS, place):
            junk |= 1 << place
    return bits | lowest_cards(work.scenario, junk, MOST_PLAYED - chosen)


@rule
def begin_again(work, state):
    """Reset the scenario to the state of the game."""
    scenario = work.scenario
    scenario.pile_count = state.pile_count
    scenario.hands_left = state.hands_left
    scenario.discards_left = state.discards_left
    for place in range(state.hand_count):
        scenario.hand[place] = state.hand[place]


@rule
def play_or_discard(state, work):
    """The best play if it wins the round; else the play or discard that wins most simulated rounds."""
    work.scenario = state
    work.trial = state
    trial_score.prepare(work.trial)
    best = trial_score.best_play(work.trial, state, work.scores)
    needed = max(1.0, state.required - state.score)
    if work.scores[best] >= needed:
        return actions.PLAY + best
    best = with_more_cards(state, work, best)
    if state.hands_left <= 1 and state.discards_left == 0:
        return actions.PLAY + best
    list_candidates(state, work, best)
    weigh(state, work, needed, QUICKLY)
    keep_best(work)
    weigh(state, work, needed, THOROUGHLY)
    keep_best(work)
    return work.candidates[0]


@rule
def list_candidates(state, work, best):
    """List the best play and the first discard of every promising plan."""
    work.candidates[0] = actions.PLAY + best
    work.count = 1
    if state.discards_left > 0:
        choose_rank(work)
        for plan in range(PLANS):
            away = throw(work, plan) if promising(work, plan) else 0
            if away and work.mask[actions.DISCARD + SUBSET_OF[away]]:
                add_candidate(work, actions.DISCARD + SUBSET_OF[away])
    for index in range(work.count):
        work.wins[index] = 0.0


@rule
def add_candidate(work, action):
    for index in range(work.count):
        if work.candidates[index] == action:
            return
    work.candidates[work.count] = action
    work.count += 1


@rule
def weigh(state, work, needed, times):
    """Simulate the round after each candidate `times` times, with the same random numbers for all."""
    key = random.bits(work)
    for index in range(work.count):
        action = work.candidates[index]
        work.key = key
        for _ in range(times):
            begin_again(work, state)
            if action < actions.DISCARD:
                work.scenario.hands_left -= 1
                exchange(work, SUBSETS[action])
                work.wins[index] += play_on(work, needed - work.scores[action])
            else:
                work.scenario.discards_left -= 1
                exchange(work, SUBSETS[action - actions.DISCARD])
                work.wins[index] += play_on(work, needed)


@rule
def keep_best(work):
    """Keep the best three candidates, the best first."""
    for rank in range(min(FINALISTS, work.count)):
        best = rank
        for index in range(rank + 1, work.count):
            if work.wins[index] > work.wins[best]:
                best = index
        action, wins = work.candidates[best], work.wins[best]
        work.candidates[best], work.wins[best] = work.candidates[rank], work.wins[rank]
        work.candidates[rank], work.wins[rank] = action, wins
    work.count = min(FINALISTS, work.count)


@rule
def with_more_cards(state, work, best):
    """A play with the same score as the best one that, if more hands follow, discards more cards."""
    chosen = best
    if state.hands_left > 1:
        for index in range(len(SUBSETS)):
            if work.scores[index] >= work.scores[best] and SIZES[index] > SIZES[chosen]:
                chosen = index
    return chosen
