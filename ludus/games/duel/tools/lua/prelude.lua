-- What the scripts of our cards share: names for the numbers of the core, and functions that register common effects.
-- Every script is written from what its card says. `cards[code]` registers the effects of a card.
cards = {}

DECK, HAND, MZONE, SZONE, GRAVE, BANISHED, EXTRA, FIELD_ZONE = 1, 2, 4, 8, 16, 32, 64, 256
ON_FIELD = MZONE | SZONE
UP_ATTACK, UP_DEFENSE, DOWN_DEFENSE, UP, IN_ATTACK, IN_DEFENSE = 1, 4, 8, 5, 3, 12
MONSTER, SPELL, TRAP, NORMAL, RITUAL, FLIP, TOKEN, LINK = 1, 2, 4, 0x10, 0x80, 0x200000, 0x4000, 0x4000000
EARTH, WATER, FIRE, WIND, LIGHT, DARK = 1, 2, 4, 8, 16, 32
WARRIOR, SPELLCASTER, FAIRY, FIEND, WINGED_BEAST, THUNDER, DRAGON, BEAST, BEAST_WARRIOR =
  1, 2, 4, 8, 0x200, 0x1000, 0x2000, 0x4000, 0x8000
BY_DESTRUCTION, BY_BATTLE, BY_EFFECT, BY_COST, BY_RULE, BY_DISCARD = 0x1, 0x20, 0x40, 0x80, 0x400, 0x4000

-- Kinds of effects.
SINGLE, FIELD, EQUIP, ACTIVATE, FLIPPING, IGNITION, MAY_TRIGGER, QUICK, MUST_TRIGGER, CONTINUOUS =
  0x1, 0x2, 0x4, 0x10, 0x20, 0x40, 0x80, 0x100, 0x200, 0x800
-- Properties of effects.
TARGETS_CARD, IGNORES_RANGE, IGNORES_IMMUNITY, EVEN_SET, CANNOT_NEGATE, TARGETS_PLAYER, IN_DAMAGE_STEP, IN_CALCULATION =
  0x10, 0x20, 0x80, 0x100, 0x400, 0x800, 0x4000, 0x8000
DELAYED, SINGLE_RANGE, NOT_COPIED, OATH, KEEPS_TARGET = 0x10000, 0x20000, 0x40000, 0x80000, 0x8000000
-- What effects answer.
AT_ANY_TIME, TO_GRAVE, CHANGED_POSITION, CHAINING, DESTROYED = 1002, 1014, 1016, 1027, 1029
SUMMONED, FLIP_SUMMONED, SPECIAL_SUMMONED, SUMMON, FLIP_SUMMON, SPECIAL_SUMMON = 1100, 1101, 1102, 1103, 1104, 1105
EQUIPPED, ATTACK, ATTACKED, BATTLE_START, BEFORE_CALCULATION, BATTLED = 1121, 1130, 1131, 1132, 1134, 1138
DESTROYED_BY_FIGHTING, LOST_BATTLE, BATTLE_DAMAGE, PHASE, LEAVING_FIELD, LEFT_FIELD = 1139, 1140, 1143, 0x1000, 1019, 1015
STANDBY_PHASE, BATTLE_END, END_PHASE = 2, 0x80, 0x200
-- Codes of effects that always hold.
DISABLED, CONTROL, CANNOT_ACTIVATE, CANNOT_TRIGGER, DISABLED_EFFECT, CANNOT_MOVE, REMAINS, CANNOT_SUMMON, CANNOT_FLIP_SUMMON =
  2, 4, 6, 7, 8, 14, 17, 20, 21
CANNOT_SPECIAL_SUMMON, SUMMON_CONDITION, SUMMON_PROCEDURE, SAFE_IN_BATTLE, NO_TRIBUTE, EQUIP_LIMIT = 22, 30, 34, 42, 43, 76
CANNOT_BE_TARGET, CANNOT_ATTACK, CANNOT_DECLARE_ATTACK, UPDATE_ATTACK, UPDATE_DEFENSE = 71, 85, 86, 100, 104
SWAPPED_VALUES, POSITION, SELF_DESTRUCTION, ATTACKS_ALL, NO_BATTLE_DAMAGE, PIERCES = 110, 140, 141, 193, 201, 203
-- When effects end.
ENDS_WITH_TURN, ENDS_WITH_CARD, ENDS_WITH_STEP = 0x40000000 | END_PHASE, 0x1fe1000, 0x40000000 | 0x20
-- Categories that other effects ask for.
DESTROYS = 0x1

function effect(card, fields)
  local made = Effect.CreateEffect(fields.owner or card)
  made:SetType(fields.type)
  if fields.code then made:SetCode(fields.code) end
  if fields.property then made:SetProperty(fields.property) end
  if fields.range then made:SetRange(fields.range) end
  if fields.own or fields.other then made:SetTargetRange(fields.own or 0, fields.other or 0) end
  if fields.condition then made:SetCondition(fields.condition) end
  if fields.cost then made:SetCost(fields.cost) end
  if fields.target then made:SetTarget(fields.target) end
  if fields.operation then made:SetOperation(fields.operation) end
  if fields.value then made:SetValue(fields.value) end
  if fields.text then made:SetDescription(card:GetOriginalCode() << 20 | fields.text) end
  if fields.line then made:SetDescription(fields.line) end
  if fields.category then made:SetCategory(fields.category) end
  if fields.once then made:SetCountLimit(table.unpack(fields.once)) end
  if fields.reset then made:SetReset(fields.reset, fields.turns or 1) end
  return made
end

function register(card, fields)
  local made = effect(card, fields)
  card:RegisterEffect(made, fields.forced)
  return made
end

-- A script whose card has these effects.
function with(...)
  local all = { ... }
  return function(card)
    for _, fields in ipairs(all) do register(card, fields) end
  end
end

-- A spell or trap that is activated.
function activation(fields)
  fields.type = ACTIVATE
  fields.code = fields.code or AT_ANY_TIME
  return fields
end

-- One effect for each of several events.
function on_each(events, fields)
  local all = {}
  for _, event in ipairs(events) do
    local copy = {}
    for name, value in pairs(fields) do copy[name] = value end
    copy.code = event
    all[#all + 1] = copy
  end
  return table.unpack(all)
end

-- Filters.
function any() return true end
function is_up(card) return card:IsFaceup() end
function is_down(card) return card:IsFacedown() end
function is_monster(card) return card:IsType(MONSTER) end
function is_spell_or_trap(card) return card:IsType(SPELL | TRAP) end
function is_controllable(card) return card:IsControlerCanBeChanged() end
function to_hand_able(card) return card:IsAbleToHand() end
function has_defense(card) return not card:IsType(LINK) end
function race(races) return function(card) return card:IsRace(races) end end
function attribute(attributes) return function(card) return card:IsAttribute(attributes) end end
function both(first, second) return function(card, ...) return first(card, ...) and second(card, ...) end end

-- Conditions for targets and operations: `where` is own and other location.
function exist(fits, own, other, fewest, not_itself)
  return function(e, player, _, _, _, _, _, _, check)
    if check == 0 then
      return Duel.IsExistingMatchingCard(fits, player, own, other, fewest or 1, not_itself and e:GetHandler() or nil)
    end
  end
end

-- Cards are chosen when the effect is activated.
function choose(fits, own, other, fewest, most, not_itself, category)
  return function(e, player, _, _, _, _, _, _, check)
    local except = not_itself and e:GetHandler() or nil
    if check == 0 then return Duel.IsExistingTarget(fits, player, own, other, fewest or 1, except, e, player) end
    local chosen = Duel.SelectTarget(player, fits, player, own, other, fewest or 1, most or fewest or 1, except, e, player)
    Duel.SetOperationInfo(0, category or 0, chosen, #chosen, 0, 0)
  end
end

-- The same for an effect that must be activated, whether there is something to choose or not.
function must_choose(fits, own, other, fewest, most, category)
  local chosen = choose(fits, own, other, fewest, most, false, category)
  return function(e, player, eg, ep, ev, re, r, rp, check)
    if check == 0 then return true end
    if Duel.IsExistingTarget(fits, player, own, other, fewest or 1, nil, e, player) then
      chosen(e, player, eg, ep, ev, re, r, rp, check)
    end
  end
end

function always(_, _, _, _, _, _, _, _, check)
  if check == 0 then return true end
end

-- Targets that are still what they were.
function targets_left(e)
  local left = Group.CreateGroup()
  for _, card in ipairs { Duel.GetFirstTarget() } do
    if card:IsRelateToEffect(e) then left:AddCard(card) end
  end
  return left
end

-- A function for each card of a group.
function for_each(group, what)
  local card = group:GetFirst()
  while card do
    what(card)
    card = group:GetNext()
  end
end

function target_left(e)
  local card = Duel.GetFirstTarget()
  return card and card:IsRelateToEffect(e) and card or nil
end

function destroy_targets(e)
  local left = targets_left(e)
  if #left > 0 then Duel.Destroy(left, BY_EFFECT) end
end

function return_targets(e)
  local left = targets_left(e)
  if #left > 0 then Duel.SendtoHand(left, nil, BY_EFFECT) end
end

function destroy_all(fits, own, other, not_itself)
  return function(e, player)
    local all = Duel.GetMatchingGroup(fits, player, own, other, not_itself and itself(e) or nil)
    if #all > 0 then Duel.Destroy(all, BY_EFFECT) end
  end
end

-- The card of a resolving effect, while it is still where it was.
function itself(e)
  local card = e:GetHandler()
  return card:IsRelateToEffect(e) and card or nil
end

-- Destroy the one card for which `measure` is best; the player chooses among equal ones.
function destroy_best(all, best, player)
  if #all == 0 then return end
  local found = best(all)
  if #found > 1 then found = found:Select(player, 1, 1, nil) end
  Duel.Destroy(found, BY_EFFECT)
end

-- Costs.
function pay(points)
  return function(_, player, _, _, _, _, _, _, check)
    if check == 0 then return Duel.CheckLPCost(player, points) end
    Duel.PayLPCost(player, points)
  end
end

function discard(count)
  return function(e, player, _, _, _, _, _, _, check)
    local fits = function(card) return card:IsDiscardable() end
    if check == 0 then return Duel.IsExistingMatchingCard(fits, player, HAND, 0, count, e:GetHandler()) end
    Duel.DiscardHand(player, fits, count, count, BY_COST | BY_DISCARD)
  end
end

function tribute_one(_, player, _, _, _, _, _, _, check)
  local all = Duel.GetReleaseGroup(player)
  if check == 0 then return #all > 0 end
  Duel.Release(all:SelectUnselect(Group.CreateGroup(), player, false, false, 1, 1), BY_COST)
end

function tribute_itself(e, _, _, _, _, _, _, _, check)
  if check == 0 then return e:GetHandler():IsReleasable() end
  Duel.Release(e:GetHandler(), BY_COST)
end

function discard_itself(e, _, _, _, _, _, _, _, check)
  if check == 0 then return e:GetHandler():IsDiscardable() end
  Duel.SendtoGrave(e:GetHandler(), BY_COST | BY_DISCARD)
end

-- Draw, damage and life points.
function can_draw(count)
  return function(_, player, _, _, _, _, _, _, check)
    if check == 0 then return Duel.IsPlayerCanDraw(player, count) end
  end
end

function draw(count)
  return { target = can_draw(count), operation = function(_, player) Duel.Draw(player, count, BY_EFFECT) end }
end

function damage(points)
  return { target = always, operation = function(_, player) Duel.Damage(1 - player, points, BY_EFFECT) end }
end

function recover(points)
  return { target = always, operation = function(_, player) Duel.Recover(player, points, BY_EFFECT) end }
end

-- Take a card from the deck.
function search(fits)
  local able = both(fits, to_hand_able)
  return {
    target = exist(able, DECK, 0),
    operation = function(_, player)
      local found = Duel.SelectMatchingCard(player, able, player, DECK, 0, 1, 1, nil)
      if #found > 0 then
        Duel.SendtoHand(found, nil, BY_EFFECT)
        Duel.ConfirmCards(1 - player, found)
      end
    end,
  }
end

-- Monsters come back from a grave.
function revivable(position)
  return function(card, e, player)
    return card:IsType(MONSTER) and card:IsCanBeSpecialSummoned(e, 0, player, false, false, position)
  end
end

function choose_from_grave(fits, other)
  local chosen = choose(fits, GRAVE, other)
  return function(e, player, eg, ep, ev, re, r, rp, check)
    if check == 0 and Duel.GetLocationCount(player, MZONE) < 1 then return false end
    return chosen(e, player, eg, ep, ev, re, r, rp, check)
  end
end

function merge(first, second)
  local all = {}
  for name, value in pairs(first) do all[name] = value end
  for name, value in pairs(second) do all[name] = value end
  return all
end

-- Attack or defense of one monster changes until the end of the turn.
function raise(card, owner, code, value)
  register(card, { owner = owner, type = SINGLE, code = code, value = value, reset = ENDS_WITH_TURN | ENDS_WITH_CARD })
end

-- An equip spell for monsters that fit; `more` are its other effects.
function equipment(fits, ...)
  local more = { ... }
  local may_hold = both(is_up, fits)
  return function(card)
    register(card, activation {
      property = TARGETS_CARD | KEEPS_TARGET, line = 1068,
      target = choose(may_hold, MZONE, MZONE),
      operation = function(e, player)
        local chosen = target_left(e)
        if chosen and chosen:IsFaceup() and itself(e) then Duel.Equip(player, e:GetHandler(), chosen) end
      end,
    })
    register(card, {
      type = SINGLE, code = EQUIP_LIMIT, property = CANNOT_NEGATE,
      value = function(_, monster) return fits(monster) end,
    })
    for _, fields in ipairs(more) do register(card, fields) end
  end
end

function on_equipped(code, value) return { type = EQUIP, code = code, value = value } end
