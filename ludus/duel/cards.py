"""Which cards there are: the game's own words for it, for tools beside the game."""

from ludus.games.duel.stages import EXTRA as EXTRA
from ludus.games.duel.stages import MONSTER as MONSTER
from ludus.games.duel.stages import SPELL as SPELL
from ludus.games.duel.stages import STAGES as STAGES
from ludus.games.duel.stages import TOKEN as TOKEN
from ludus.games.duel.stages import TRAP as TRAP
from ludus.games.duel.stages import cards_by_code as cards_by_code
from ludus.games.duel.stages import cards_of_stage as cards_of_stage
from ludus.games.duel.stages import kind_of as kind_of
from ludus.games.duel.stages import stage_of as stage_of
