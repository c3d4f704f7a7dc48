-- The spells, in the order of our tables.

cards[53129443] = with(activation { category = DESTROYS, target = exist(any, MZONE, MZONE), operation = destroy_all(any, MZONE, MZONE) })
cards[12580477] = with(activation { category = DESTROYS, target = exist(any, 0, MZONE), operation = destroy_all(any, 0, MZONE) })
cards[66788016] = with(activation {
  target = exist(is_up, 0, MZONE),
  operation = function(_, player)
    local all = Duel.GetMatchingGroup(is_up, player, 0, MZONE, nil)
    destroy_best(all, function(group) return group:GetMinGroup(Card.GetAttack) end, player)
  end,
})

cards[83764718] = with(activation {
  property = TARGETS_CARD, target = choose_from_grave(revivable(UP), GRAVE),
  operation = function(e, player)
    local chosen = target_left(e)
    if chosen then Duel.SpecialSummon(chosen, 0, player, player, false, false, UP) end
  end,
})
cards[4031928] = with(activation {
  property = TARGETS_CARD, target = choose(is_controllable, 0, MZONE),
  operation = function(e, player)
    local chosen = target_left(e)
    if chosen then Duel.GetControl(chosen, player, END_PHASE, 1) end
  end,
})
cards[55144522] = with(activation(merge({ text = 0 }, draw(2))))
cards[79571449] = with(activation {
  target = can_draw(3),
  operation = function(_, player)
    if Duel.Draw(player, 3, BY_EFFECT) == 3 then
      Duel.ShuffleHand(player)
      Duel.BreakEffect()
      Duel.DiscardHand(player, nil, 2, 2, BY_EFFECT | BY_DISCARD)
    end
  end,
})
cards[44763025] = with(activation {
  cost = pay(1000), target = exist(any, 0, HAND),
  operation = function(_, player)
    local hand = Duel.GetFieldGroup(player, 0, HAND)
    if #hand == 0 then return end
    local lost = hand:RandomSelect(1 - player, 1)
    Duel.SendtoGrave(lost, BY_EFFECT | BY_DISCARD)
    hand:RemoveCard(lost:GetFirst())
    if #hand == 0 then return end
    Duel.BreakEffect()
    Duel.SendtoGrave(hand:Select(1 - player, 1, 1, nil), BY_EFFECT | BY_DISCARD)
  end,
})
cards[19613556] = with(activation {
  target = exist(is_spell_or_trap, ON_FIELD, ON_FIELD, 1, true),
  operation = destroy_all(is_spell_or_trap, ON_FIELD, ON_FIELD, true),
})
cards[18144506] = with(activation {
  target = exist(is_spell_or_trap, 0, ON_FIELD), operation = destroy_all(is_spell_or_trap, 0, ON_FIELD),
})
cards[5318639] = with(activation {
  text = 0, property = TARGETS_CARD, target = choose(is_spell_or_trap, ON_FIELD, ON_FIELD, 1, 1, true),
  operation = destroy_targets,
})
local function spell_or_down(card) return card:IsFacedown() or card:IsType(SPELL) end
cards[19159413] = with(activation {
  property = TARGETS_CARD, target = choose(spell_or_down, SZONE, SZONE, 1, 1, true),
  operation = function(e, player)
    local chosen = target_left(e)
    if not chosen then return end
    if chosen:IsFacedown() then Duel.ConfirmCards(player, chosen) end
    if chosen:IsType(SPELL) then Duel.Destroy(chosen, BY_EFFECT) end
  end,
})
local function trap_face_up(card) return card:IsFaceup() and card:IsType(TRAP) end
cards[51482758] = with(activation {
  property = TARGETS_CARD, target = choose(trap_face_up, ON_FIELD, ON_FIELD), operation = destroy_targets,
})
cards[84257639] = with(activation(recover(1000)))
cards[19523799] = with(activation(damage(800)))
cards[46130346] = with(activation(damage(500)))
cards[46918794] = with(activation {
  target = always,
  operation = function(_, player)
    Duel.Damage(1 - player, 1000, BY_EFFECT, true)
    Duel.Damage(player, 500, BY_EFFECT, true)
    Duel.RDComplete()
  end,
})
local function can_turn_down(card) return card:IsFaceup() and card:IsCanTurnSet() end
cards[14087893] = with(activation {
  property = TARGETS_CARD, target = choose(can_turn_down, MZONE, MZONE),
  operation = function(e)
    local chosen = target_left(e)
    if chosen and chosen:IsFaceup() then Duel.ChangePosition(chosen, DOWN_DEFENSE) end
  end,
})

-- Fields.
local function field(...)
  local all = { activation {} }
  for _, change in ipairs { ... } do
    local races, value = change[1], change[2]
    for _, code in ipairs { UPDATE_ATTACK, UPDATE_DEFENSE } do
      all[#all + 1] = {
        type = FIELD, code = code, range = FIELD_ZONE, own = MZONE, other = MZONE, value = value,
        target = function(_, card) return card:IsRace(races) end,
      }
    end
  end
  return with(table.unpack(all))
end
cards[59197169] = field({ FIEND | SPELLCASTER, 200 }, { FAIRY, -200 })
cards[86318356] = field { WARRIOR | BEAST_WARRIOR, 200 }
cards[50913601] = field { DRAGON | WINGED_BEAST | THUNDER, 200 }

-- Equips.
local function strengthening(fits, attack, defense, ...)
  return equipment(fits, on_equipped(UPDATE_ATTACK, attack), on_equipped(UPDATE_DEFENSE, defense), ...)
end
cards[37120512] = strengthening(attribute(DARK), 400, -200)
cards[91595718] = strengthening(race(SPELLCASTER), 300, 300)
cards[4614116] = strengthening(race(FIEND), 300, 300)
cards[98374133] = strengthening(attribute(EARTH), 400, -200)
cards[1435851] = strengthening(race(DRAGON), 300, 300)
cards[61854111] = strengthening(race(WARRIOR), 300, 300)
local function left_field(e) return e:GetHandler():IsPreviousLocation(ON_FIELD) end
local function back_on_top(cost)
  return {
    type = SINGLE | MAY_TRIGGER, code = TO_GRAVE, text = 0, property = IN_DAMAGE_STEP, condition = left_field, cost = cost,
    target = function(e, _, _, _, _, _, _, _, check)
      if check == 0 then return e:GetHandler():IsAbleToDeck() end
    end,
    operation = function(e)
      if itself(e) then Duel.SendtoDeck(e:GetHandler(), nil, 0, BY_EFFECT) end
    end,
  }
end
cards[99597615] = equipment(any, on_equipped(UPDATE_ATTACK, 700), back_on_top(pay(500)))
cards[65169794] = equipment(any, on_equipped(UPDATE_ATTACK, 500), merge({
  type = SINGLE | MUST_TRIGGER, code = TO_GRAVE, text = 0, condition = left_field,
}, damage(500)))
local function per_own_monster(e) return 800 * Duel.GetMatchingGroupCount(is_up, e:GetHandlerPlayer(), MZONE, 0, nil) end
cards[56747793] = strengthening(any, per_own_monster, per_own_monster)
local function per_own_spell(e)
  return 500 * Duel.GetMatchingGroupCount(is_spell_or_trap, e:GetHandlerPlayer(), ON_FIELD, 0, nil)
end
cards[83746708] = strengthening(any, per_own_spell, per_own_spell)

-- Destroying and moving.
local function up_with_defense(card) return card:IsFaceup() and has_defense(card) end
cards[97169186] = with(activation {
  target = exist(up_with_defense, 0, MZONE),
  operation = function(_, player)
    local all = Duel.GetMatchingGroup(up_with_defense, player, 0, MZONE, nil)
    destroy_best(all, function(group) return group:GetMaxGroup(Card.GetDefense) end, player)
  end,
})
local function is_attacking(card) return card:IsPosition(UP_ATTACK) end
cards[26412047] = with(activation {
  target = exist(is_attacking, MZONE, MZONE),
  operation = function(_, player)
    local all = Duel.GetMatchingGroup(is_attacking, player, MZONE, MZONE, nil)
    destroy_best(all, function(group) return group:GetMaxGroup(Card.GetAttack) end, player)
  end,
})
cards[69162969] = with(activation {
  cost = discard(1), target = exist(is_up, 0, MZONE), operation = destroy_all(is_up, 0, MZONE),
})
cards[79759861] = with(activation {
  property = TARGETS_CARD, cost = discard(1), target = choose(any, MZONE, MZONE), operation = destroy_targets,
})
cards[42703248] = with(activation {
  target = exist(both(is_spell_or_trap, to_hand_able), ON_FIELD, ON_FIELD, 1, true),
  operation = function(e, player)
    local all = Duel.GetMatchingGroup(both(is_spell_or_trap, to_hand_able), player, ON_FIELD, ON_FIELD, itself(e))
    Duel.SendtoHand(all, nil, BY_EFFECT)
  end,
})
local function can_defend(card) return card:IsPosition(UP_ATTACK) and card:IsCanChangePosition() end
cards[25880422] = with(activation {
  property = TARGETS_CARD, target = choose(can_defend, 0, MZONE),
  operation = function(e)
    local chosen = target_left(e)
    if chosen and chosen:IsPosition(UP_ATTACK) then Duel.ChangePosition(chosen, UP_DEFENSE) end
  end,
})
local function is_defending(card) return card:IsPosition(IN_DEFENSE) and card:IsCanChangePosition() end
cards[63102017] = with(activation {
  property = TARGETS_CARD, target = choose(is_defending, 0, MZONE),
  operation = function(e)
    local chosen = target_left(e)
    if chosen and chosen:IsPosition(IN_DEFENSE) then Duel.ChangePosition(chosen, 0, UP_ATTACK, UP_ATTACK, UP_ATTACK) end
  end,
})
cards[32807846] = with(activation(search(function(card) return card:IsRace(WARRIOR) and card:IsLevelBelow(4) end)))
cards[95281259] = with(activation {
  property = TARGETS_CARD, target = choose(both(race(WARRIOR), to_hand_able), GRAVE, 0),
  operation = function(e, player)
    local chosen = target_left(e)
    if chosen then
      Duel.SendtoHand(chosen, nil, BY_EFFECT)
      Duel.ConfirmCards(1 - player, chosen)
    end
  end,
})
cards[70368879] = with(activation {
  target = can_draw(1),
  operation = function(_, player)
    Duel.Draw(player, 1, BY_EFFECT)
    Duel.BreakEffect()
    Duel.Recover(1 - player, 1000, BY_EFFECT)
  end,
})

-- Attack and defense for a turn.
function until_calculation()
  return Duel.GetCurrentPhase() ~= 0x20 or not Duel.IsDamageCalculated()
end
function raising(fits, code, value)
  return activation {
    property = TARGETS_CARD | IN_DAMAGE_STEP, condition = until_calculation, target = choose(fits, MZONE, MZONE),
    operation = function(e)
      local chosen = target_left(e)
      if chosen and chosen:IsFaceup() then raise(chosen, e:GetHandler(), code, value) end
    end,
  }
end
cards[70046172] = with(raising(is_up, UPDATE_ATTACK, 700))
cards[16430187] = with(raising(up_with_defense, UPDATE_DEFENSE, 700))
function dice(sign, own, other)
  return activation {
    text = 0, property = IN_DAMAGE_STEP, condition = until_calculation, target = exist(is_up, own, other),
    operation = function(e, player)
      local value = sign * 100 * Duel.TossDice(player, 1)
      for_each(Duel.GetMatchingGroup(is_up, player, own, other, nil), function(card)
        raise(card, e:GetHandler(), UPDATE_ATTACK, value)
        raise(card, e:GetHandler(), UPDATE_DEFENSE, value)
      end)
    end,
  }
end
cards[74137509] = with(dice(1, MZONE, 0))

-- Spells that stay, and what they do.
cards[40619825] = equipment(any, on_equipped(UPDATE_ATTACK, 1000), back_on_top(tribute_one))
local function others_turn(_, player) return Duel.GetTurnPlayer() ~= player end
local function own_turn(_, player) return Duel.GetTurnPlayer() == player end
local function lasts_three_turns(card)
  register(card, {
    type = FIELD | CONTINUOUS, code = PHASE | END_PHASE, property = CANNOT_NEGATE, range = SZONE, once = { 1 },
    condition = others_turn, reset = ENDS_WITH_TURN | ENDS_WITH_CARD | 0x20000000, turns = 3,
    operation = function(e)
      card:SetTurnCounter(card:GetTurnCounter() + 1)
      if card:GetTurnCounter() == 3 then Duel.Destroy(card, BY_RULE) end
    end,
  })
end
cards[72302403] = with(activation {
  target = function(e, _, _, _, _, _, _, _, check)
    if check == 0 then return true end
    e:GetHandler():SetTurnCounter(0)
    lasts_three_turns(e:GetHandler())
  end,
  operation = function(_, player)
    local down = Duel.GetMatchingGroup(is_down, player, 0, MZONE, nil)
    if #down > 0 then Duel.ChangePosition(down, UP_ATTACK, UP_ATTACK, UP_DEFENSE, UP_DEFENSE) end
  end,
}, { type = FIELD, code = CANNOT_DECLARE_ATTACK, range = SZONE, other = MZONE }, { type = SINGLE, code = REMAINS })
cards[44656491] = with(activation {}, {
  type = FIELD, code = CANNOT_DECLARE_ATTACK, range = SZONE, own = MZONE, other = MZONE,
  target = function(_, card) return card:GetAttack() >= 1500 end,
}, {
  type = FIELD | CONTINUOUS, code = PHASE | STANDBY_PHASE, property = CANNOT_NEGATE, range = SZONE, once = { 1 },
  condition = own_turn,
  operation = function(e, player)
    if Duel.CheckLPCost(player, 100) and Duel.SelectYesNo(player, 44656491 << 20) then
      Duel.PayLPCost(player, 100)
    else
      Duel.Destroy(e:GetHandler(), BY_COST)
    end
  end,
})
function sitting(fits)
  return {
    type = FIELD, code = POSITION, range = SZONE, own = MZONE, other = MZONE, value = UP_DEFENSE,
    target = function(_, card) return card:IsFaceup() and fits(card) end,
  }
end
cards[3136426] = with(activation {}, sitting(function(card) return card:IsLevelAbove(4) end))
cards[45986603] = with(activation {
  property = TARGETS_CARD | KEEPS_TARGET, line = 1068, target = choose(both(is_up, is_controllable), 0, MZONE),
  operation = function(e, player)
    local chosen = target_left(e)
    if chosen and chosen:IsFaceup() and itself(e) then Duel.Equip(player, e:GetHandler(), chosen) end
  end,
}, {
  type = SINGLE, code = EQUIP_LIMIT, property = CANNOT_NEGATE,
  value = function(e, card)
    return card:GetControler() ~= e:GetHandlerPlayer() or e:GetHandler():GetEquipTarget() == card
  end,
}, {
  type = EQUIP, code = CONTROL, value = function(e) return e:GetHandlerPlayer() end,
}, {
  type = FIELD | MUST_TRIGGER, code = PHASE | STANDBY_PHASE, text = 0, range = SZONE, once = { 1 }, condition = others_turn,
  target = always,
  operation = function(e, player)
    if itself(e) then Duel.Recover(1 - player, 1000, BY_EFFECT) end
  end,
})
cards[70828912] = with(activation {
  property = TARGETS_CARD, cost = pay(800), target = choose_from_grave(revivable(UP_ATTACK), 0),
  operation = function(e, player)
    local card, chosen = itself(e), target_left(e)
    if not card or not chosen or Duel.SpecialSummon(chosen, 0, player, player, false, false, UP_ATTACK) == 0 then return end
    Duel.Equip(player, card, chosen)
    register(card, {
      type = SINGLE, code = EQUIP_LIMIT, property = CANNOT_NEGATE, reset = ENDS_WITH_CARD,
      value = function(_, monster) return monster == chosen end,
    })
  end,
}, {
  type = SINGLE | CONTINUOUS, code = LEFT_FIELD,
  operation = function(e)
    local monster = e:GetHandler():GetFirstCardTarget()
    if e:GetHandler():IsReason(BY_DESTRUCTION) and monster and monster:IsLocation(MZONE) then
      Duel.Destroy(monster, BY_EFFECT)
    end
  end,
})

-- Control, position and hands.
cards[73915051] = with(activation {
  cost = function(e, player, _, _, _, _, _, _, check)
    if check == 0 then
      return Duel.GetActivityCount(player, 1) == 0 and Duel.GetActivityCount(player, 4) == 0
        and Duel.GetActivityCount(player, 3) == 0
    end
    local function forbid(code, target)
      Duel.RegisterEffect(effect(e:GetHandler(), {
        type = FIELD, code = code, property = TARGETS_PLAYER | OATH, own = 1, target = target, reset = ENDS_WITH_TURN,
      }), player)
    end
    forbid(CANNOT_SPECIAL_SUMMON, function(_, _, _, _, _, _, cause) return cause ~= e end)
    forbid(CANNOT_SUMMON)
    forbid(CANNOT_FLIP_SUMMON)
  end,
  target = function(_, player, _, _, _, _, _, _, check)
    if check == 0 then
      return Duel.GetLocationCount(player, MZONE) > 3
        and Duel.IsPlayerCanSpecialSummonMonster(player, 73915052, 0, 0x4011, 0, 0, 1, BEAST, EARTH, UP_DEFENSE)
    end
  end,
  operation = function(e, player)
    if Duel.GetLocationCount(player, MZONE) < 4 then return end
    for number = 1, 4 do
      local token = Duel.CreateToken(player, 73915051 + number)
      Duel.SpecialSummonStep(token, 0, player, player, false, false, UP_DEFENSE)
      register(token, { owner = e:GetHandler(), type = SINGLE, code = NO_TRIBUTE, value = 1, reset = ENDS_WITH_CARD, forced = true })
    end
    Duel.SpecialSummonComplete()
  end,
})
cards[71044499] = with(activation {
  property = TARGETS_CARD,
  target = choose(function(card) return card:IsFacedown() and card:IsAbleToRemove() end, MZONE, MZONE),
  operation = function(e, player)
    local chosen = target_left(e)
    if not chosen or not chosen:IsFacedown() or Duel.Destroy(chosen, BY_EFFECT, BANISHED) == 0 then return end
    if not chosen:IsType(FLIP) then return end
    local copies = Duel.GetMatchingGroup(Card.IsCode, player, DECK, DECK, nil, chosen:GetCode())
    Duel.Remove(copies, UP, BY_EFFECT)
    Duel.ShuffleDeck(player)
    Duel.ShuffleDeck(1 - player)
  end,
})
cards[72892473] = with(activation {
  target = function(e, player, _, _, _, _, _, _, check)
    local own, other = Duel.GetFieldGroupCount(player, HAND, 0), Duel.GetFieldGroupCount(player, 0, HAND)
    if e:GetHandler():IsLocation(HAND) then own = own - 1 end
    if check == 0 then
      return own + other > 0 and (own == 0 or Duel.IsPlayerCanDraw(player, own))
    end
  end,
  operation = function(_, player)
    local own, other = Duel.GetFieldGroupCount(player, HAND, 0), Duel.GetFieldGroupCount(player, 0, HAND)
    Duel.SendtoGrave(Duel.GetFieldGroup(player, HAND, HAND), BY_EFFECT | BY_DISCARD)
    Duel.BreakEffect()
    Duel.Draw(player, own, BY_EFFECT)
    Duel.Draw(1 - player, other, BY_EFFECT)
  end,
})
cards[52097679] = with(activation {
  target = function(_, player, _, _, _, _, _, _, check)
    if check == 0 then return Duel.IsExistingMatchingCard(is_up, player, MZONE, MZONE, 1, nil) end
    Duel.SetTargetCard(Duel.GetMatchingGroup(is_up, player, MZONE, MZONE, nil))
  end,
  operation = function(e, player)
    for_each(targets_left(e), function(card)
      if card:IsFaceup() and card:IsLocation(MZONE) then
        register(card, { owner = e:GetHandler(), type = SINGLE, code = SWAPPED_VALUES, reset = ENDS_WITH_TURN | ENDS_WITH_CARD })
      end
    end)
  end,
})
local function can_turn(card) return card:IsFaceup() and card:IsCanChangePosition() end
local function can_be_taken(card) return card:IsFaceup() and card:IsControlerCanBeChanged(true) end
local function frees_zone(card, player)
  local zones = Duel.GetLocationCount(player, MZONE, player, 2)
  if card:IsControler(player) and card:GetSequence() < 5 then zones = zones + 1 end
  return zones > 0 and card:IsReleasable() and Duel.IsExistingTarget(can_be_taken, player, 0, MZONE, 1, card)
end
cards[98045062] = with(activation {
  text = 0, property = TARGETS_CARD,
  target = function(e, player, _, _, _, _, _, _, check)
    local turn = Duel.IsExistingTarget(can_turn, player, 0, MZONE, 1, nil)
    local tributes = Duel.GetMatchingGroup(frees_zone, player, MZONE, 0, nil, player)
    if check == 0 then return turn or #tributes > 0 end
    local options = {}
    if turn then options[#options + 1] = 1 end
    if #tributes > 0 then options[#options + 1] = 2 end
    local lines = {}
    for number, option in ipairs(options) do lines[number] = 98045062 << 20 | option end
    local chosen = options[Duel.SelectOption(player, table.unpack(lines)) + 1]
    e:SetLabel(chosen)
    if chosen == 1 then
      Duel.SelectTarget(player, can_turn, player, 0, MZONE, 1, 1, nil)
    else
      Duel.Release(tributes:SelectUnselect(Group.CreateGroup(), player, false, false, 1, 1), BY_COST)
      Duel.SelectTarget(player, can_be_taken, player, 0, MZONE, 1, 1, nil)
    end
  end,
  operation = function(e, player)
    local chosen = target_left(e)
    if not chosen or not chosen:IsFaceup() then return end
    if e:GetLabel() == 1 then
      Duel.ChangePosition(chosen, UP_DEFENSE, 0, UP_ATTACK, 0)
    else
      Duel.GetControl(chosen, player, END_PHASE, 1)
    end
  end,
})
local function can_be_swapped(card)
  return card:IsAbleToChangeControler()
    and (card:GetSequence() < 5 or Duel.GetLocationCount(card:GetControler(), MZONE) > 0)
end
local function both_can_swap(_, player, _, _, _, _, _, _, check)
  if check == 0 then
    return Duel.IsExistingMatchingCard(can_be_swapped, player, MZONE, 0, 1, nil)
      and Duel.IsExistingMatchingCard(can_be_swapped, player, 0, MZONE, 1, nil)
  end
end
cards[31036355] = with(activation {
  target = both_can_swap,
  operation = function(e, player)
    if not both_can_swap(e, player, nil, nil, nil, nil, nil, nil, 0) then return end
    local own = Duel.SelectMatchingCard(player, can_be_swapped, player, MZONE, 0, 1, 1, nil):GetFirst()
    local other = Duel.SelectMatchingCard(1 - player, can_be_swapped, 1 - player, MZONE, 0, 1, 1, nil):GetFirst()
    if not Duel.SwapControl(own, other, 0, 0) then return end
    for _, card in ipairs { own, other } do
      register(card, { owner = e:GetHandler(), type = SINGLE, code = CANNOT_MOVE, reset = ENDS_WITH_TURN })
    end
  end,
})
cards[15259703] = with(activation { cost = pay(1000) })
local function is_lord(card) return card:IsFaceup() and card:IsCode(17985575) end
local function dragon_in_hand(card, e, player)
  return card:IsRace(DRAGON) and card:IsCanBeSpecialSummoned(e, 0, player, false, false)
end
cards[43973174] = with(activation {
  target = function(e, player, _, _, _, _, _, _, check)
    if check == 0 then
      return Duel.IsExistingMatchingCard(is_lord, player, MZONE, MZONE, 1, nil) and Duel.GetLocationCount(player, MZONE) > 0
        and Duel.IsExistingMatchingCard(dragon_in_hand, player, HAND, 0, 1, nil, e, player)
    end
  end,
  operation = function(e, player)
    local zones = math.min(2, Duel.GetLocationCount(player, MZONE))
    if zones < 1 or not Duel.IsExistingMatchingCard(is_lord, player, MZONE, MZONE, 1, nil) then return end
    local found = Duel.SelectMatchingCard(player, dragon_in_hand, player, HAND, 0, 1, zones, nil, e, player)
    if #found > 0 then Duel.SpecialSummon(found, 0, player, player, false, false, UP) end
  end,
})
