-- The monsters with effects, in the order of our tables.

local function flip(fields)
  fields.type = SINGLE | FLIPPING | (fields.type or 0)
  return fields
end

cards[54652250] = with(flip { text = 0, property = TARGETS_CARD, target = must_choose(any, MZONE, MZONE), operation = destroy_targets })
cards[7089711] = with(flip { text = 0, property = TARGETS_CARD, target = must_choose(to_hand_able, MZONE, MZONE), operation = return_targets })
local function back_to_hand(e, player)
  local chosen = target_left(e)
  if chosen then
    Duel.SendtoHand(chosen, nil, BY_EFFECT)
    Duel.ConfirmCards(1 - player, chosen)
  end
end
local function own_type(types) return function(card) return card:IsType(types) and card:IsAbleToHand() end end
cards[31560081] = with(flip { text = 0, property = TARGETS_CARD, target = must_choose(own_type(SPELL), GRAVE, 0), operation = back_to_hand })
cards[28933734] = with(flip { property = TARGETS_CARD, target = must_choose(own_type(TRAP), GRAVE, 0), operation = back_to_hand })
cards[93920745] = with(flip {
  type = MAY_TRIGGER, text = 0, property = TARGETS_CARD | DELAYED, target = choose(to_hand_able, MZONE, MZONE, 1, 2),
  operation = return_targets,
})
cards[51371017] = with(flip {
  text = 0, target = always,
  operation = function(_, player) Duel.Damage(1 - player, 500 * Duel.GetFieldGroupCount(player, 0, SZONE), BY_EFFECT) end,
})
cards[33508719] = with(flip {
  target = always,
  operation = function(_, player)
    Duel.SendtoGrave(Duel.GetFieldGroup(player, HAND, HAND), BY_EFFECT | BY_DISCARD)
    Duel.BreakEffect()
    Duel.Draw(player, 5, BY_EFFECT)
    Duel.Draw(1 - player, 5, BY_EFFECT)
  end,
})
cards[87621407] = with(flip { text = 0, target = always, operation = draw(1).operation })

local function trap_or_down(card) return card:IsFacedown() and card:GetSequence() < 5 or card:IsFaceup() and card:IsType(TRAP) end
cards[46461247] = with(flip {
  text = 0, property = TARGETS_CARD, target = must_choose(trap_or_down, SZONE, SZONE),
  operation = function(e, player)
    local chosen = target_left(e)
    if not chosen then return end
    if chosen:IsFacedown() then Duel.ConfirmCards(player, chosen) end
    if chosen:IsType(TRAP) then Duel.Destroy(chosen, BY_EFFECT) end
  end,
})
cards[87557188] = with(flip {
  condition = function(_, player) return Duel.IsExistingMatchingCard(is_down, player, 0, ON_FIELD, 1, nil) end,
  operation = function(_, player)
    local down = Duel.GetMatchingGroup(is_down, player, 0, ON_FIELD, nil)
    if #down > 0 then Duel.ConfirmCards(player, down) end
  end,
})
cards[16226786] = with(flip {
  text = 0, property = TARGETS_CARD, target = must_choose(any, 0, MZONE),
  operation = function(e, player)
    local chosen = target_left(e)
    if chosen and chosen:IsControler(1 - player) then Duel.Destroy(chosen, BY_EFFECT) end
  end,
}, {
  type = SINGLE | MUST_TRIGGER, code = TO_GRAVE, text = 1, property = TARGETS_CARD,
  condition = function(e) return e:GetHandler():IsPreviousLocation(HAND) end,
  target = must_choose(function(card)
    return card:IsType(FLIP) and not card:IsCode(16226786) and card:IsAbleToHand()
  end, GRAVE, 0),
  operation = back_to_hand,
})

-- Triggers.
local function single(kind, code, fields)
  fields.type, fields.code = SINGLE | kind, code
  return fields
end
cards[13945283] = with(single(MUST_TRIGGER, BATTLED, {
  text = 0, target = always,
  condition = function(e)
    return Duel.GetAttackTarget() == e:GetHandler() and not Duel.GetAttacker():IsStatus(0x4000)
  end,
  operation = function()
    local attacker = Duel.GetAttacker()
    if attacker:IsRelateToBattle() then Duel.SendtoHand(attacker, nil, BY_EFFECT) end
  end,
}))
local function searching(code, fits)
  return with(single(MUST_TRIGGER, TO_GRAVE, {
    text = 0, target = always, once = { 1, code },
    condition = function(e) return e:GetHandler():IsPreviousLocation(ON_FIELD) end,
    operation = function(e, player)
      local found = Duel.SelectMatchingCard(player, both(fits, own_type(MONSTER)), player, DECK, 0, 1, 1, nil):GetFirst()
      if not found then return end
      Duel.SendtoHand(found, nil, BY_EFFECT)
      Duel.ConfirmCards(1 - player, found)
      if not found:IsLocation(HAND) then return end
      local name = found:GetCode()
      Duel.RegisterEffect(effect(e:GetHandler(), {
        type = FIELD, code = CANNOT_ACTIVATE, property = TARGETS_PLAYER, own = 1, reset = ENDS_WITH_TURN,
        value = function(_, other) return other:GetHandler():IsCode(name) end,
      }), player)
    end,
  }))
end
cards[26202165] = searching(26202165, function(card) return card:IsAttackBelow(1500) end)
cards[78010363] = searching(78010363, function(card) return card:IsDefenseBelow(1500) end)

-- What a monster on the field always does to itself or to others.
local function on_itself(code, value, condition)
  return { type = SINGLE, code = code, property = SINGLE_RANGE, range = MZONE, value = value, condition = condition }
end
cards[93013676] = with(on_itself(UPDATE_ATTACK, function(_, card) return 500 * card:GetEquipCount() end))
cards[38033121] = with(on_itself(UPDATE_ATTACK, function(e)
  return 300 * Duel.GetMatchingGroupCount(Card.IsCode, e:GetHandlerPlayer(), GRAVE, GRAVE, nil, 46986414)
end))
cards[17985575] = with({
  type = FIELD, code = CANNOT_BE_TARGET, range = MZONE, own = MZONE, other = MZONE, value = 1,
  target = function(_, card) return card:IsFaceup() and card:IsRace(DRAGON) end,
})
local function is_trap(_, card) return card:IsType(TRAP) end
cards[77585513] = with({
  type = FIELD, code = CANNOT_TRIGGER, property = EVEN_SET, range = MZONE, own = HAND | SZONE, other = HAND | SZONE, target = is_trap,
}, {
  type = FIELD, code = DISABLED, range = MZONE, own = SZONE, other = SZONE, target = is_trap,
}, {
  type = FIELD | CONTINUOUS, code = 1020, range = MZONE,
  operation = function(_, _, _, _, link, other)
    if other:GetActivateLocation() == SZONE and other:IsActiveType(TRAP) then Duel.NegateEffect(link) end
  end,
})

-- Triggers of summons and positions.
local function tributed(e) return e:GetHandler():IsSummonType(0x11000000) end
cards[51945556] = with(single(MUST_TRIGGER, SUMMONED, {
  text = 0, property = TARGETS_CARD, condition = tributed, target = must_choose(any, MZONE, MZONE), operation = destroy_targets,
}))
cards[4929256] = with(single(MAY_TRIGGER, SUMMONED, {
  text = 0, property = TARGETS_CARD, condition = tributed, target = choose(is_spell_or_trap, ON_FIELD, ON_FIELD, 1, 2),
  operation = destroy_targets,
}))
local function discard_at_random(player)
  local hand = Duel.GetFieldGroup(player, HAND, 0)
  if #hand == 0 then return nil end
  local lost = hand:RandomSelect(player, 1)
  Duel.SendtoGrave(lost, BY_EFFECT | BY_DISCARD)
  return lost:GetFirst()
end
cards[26205777] = with(single(MUST_TRIGGER, SUMMONED, {
  text = 0, condition = tributed, target = always,
  operation = function(_, player)
    local lost = discard_at_random(1 - player)
    if lost and lost:IsType(MONSTER) then Duel.Damage(1 - player, 100 * lost:GetLevel(), BY_EFFECT) end
  end,
}))
cards[60229110] = with(single(MUST_TRIGGER, SUMMONED, {
  text = 0, property = TARGETS_CARD, condition = tributed, target = must_choose(is_down, ON_FIELD, ON_FIELD),
  operation = function(e)
    local chosen = target_left(e)
    if chosen and chosen:IsFacedown() then Duel.Destroy(chosen, BY_EFFECT) end
  end,
}))
cards[13215230] = with(single(MUST_TRIGGER, CHANGED_POSITION, {
  text = 0, property = TARGETS_CARD, target = must_choose(any, 0, MZONE), operation = destroy_targets,
  condition = function(e) return e:GetHandler():IsPreviousPosition(IN_ATTACK) and e:GetHandler():IsPosition(UP_DEFENSE) end,
}))
cards[93889755] = with(single(MUST_TRIGGER, CHANGED_POSITION, {
  text = 0, property = TARGETS_CARD, target = must_choose(to_hand_able, 0, MZONE), operation = return_targets,
  condition = function(e) return e:GetHandler():IsPreviousPosition(IN_DEFENSE) and e:GetHandler():IsPosition(UP_ATTACK) end,
}))
local SPELL_COUNTER = 1
cards[71413901] = function(card)
  card:EnableCounterPermit(SPELL_COUNTER)
  card:SetCounterLimit(SPELL_COUNTER, 1)
  register(card, single(MUST_TRIGGER, SUMMONED, {
    text = 0, target = always,
    operation = function(e)
      if itself(e) then card:AddCounter(SPELL_COUNTER, 1) end
    end,
  }))
  register(card, on_itself(UPDATE_ATTACK, function(_, monster) return 300 * monster:GetCounter(SPELL_COUNTER) end))
  register(card, {
    type = IGNITION, text = 1, property = TARGETS_CARD, range = MZONE, target = choose(is_spell_or_trap, ON_FIELD, ON_FIELD),
    cost = function(_, player, _, _, _, _, _, _, check)
      if check == 0 then return card:IsCanRemoveCounter(player, SPELL_COUNTER, 1, BY_COST) end
      card:RemoveCounter(player, SPELL_COUNTER, 1, BY_COST)
    end,
    operation = destroy_targets,
  })
end
local function from_hand(card, e, player)
  return card:IsType(MONSTER) and card:IsLevelBelow(4) and card:IsCanBeSpecialSummoned(e, 0, player, false, false)
end
cards[2460565] = with(single(MAY_TRIGGER, SUMMONED, {
  text = 0,
  target = function(e, player, _, _, _, _, _, _, check)
    if check == 0 then
      return Duel.GetLocationCount(player, MZONE) > 0
        and Duel.IsExistingMatchingCard(from_hand, player, HAND, 0, 1, nil, e, player)
    end
  end,
  operation = function(e, player)
    if Duel.GetLocationCount(player, MZONE) < 1 then return end
    local found = Duel.SelectMatchingCard(player, from_hand, player, HAND, 0, 1, 1, nil, e, player)
    if #found > 0 then Duel.SpecialSummon(found, 0, player, player, false, false, UP) end
  end,
}), {
  type = FIELD, code = 332, range = MZONE, other = MZONE,
  value = function(e, card) return card:IsFaceup() and card ~= e:GetHandler() and card:IsRace(WARRIOR) end,
})
local function weak_in_grave(card, e, player)
  return card:IsLevelBelow(2) and card:IsCanBeSpecialSummoned(e, 0, player, false, false, UP_DEFENSE)
end
cards[63977008] = with(single(MAY_TRIGGER, SUMMONED, {
  text = 0, property = TARGETS_CARD, target = choose_from_grave(weak_in_grave, 0),
  operation = function(e, player)
    local chosen = target_left(e)
    if chosen and Duel.SpecialSummonStep(chosen, 0, player, player, false, false, UP_DEFENSE) then
      for _, code in ipairs { DISABLED, DISABLED_EFFECT } do
        register(chosen, { owner = e:GetHandler(), type = SINGLE, code = code, reset = ENDS_WITH_CARD })
      end
    end
    Duel.SpecialSummonComplete()
  end,
}))
cards[423705] = with(single(MUST_TRIGGER, EQUIPPED, {
  text = 0,
  target = function(_, _, group, _, _, _, _, _, check)
    if check == 0 then return true end
    Duel.SetTargetCard(group)
  end,
  operation = destroy_targets,
}))

-- Triggers of battles.
local function to_other(_, player, _, hurt) return hurt ~= player end
local function discards_other(_, player) discard_at_random(1 - player) end
cards[15150365] = with(single(MUST_TRIGGER, BATTLE_DAMAGE, {
  text = 0, condition = to_other, target = always, operation = discards_other,
}))
cards[18036057] = with(single(MUST_TRIGGER, BATTLE_DAMAGE, {
  text = 0, condition = to_other, target = always, operation = draw(1).operation,
}), { type = SINGLE, code = PIERCES })
cards[88240808] = with(single(MAY_TRIGGER, BATTLE_DAMAGE, {
  text = 0, property = TARGETS_CARD, condition = to_other,
  target = choose(function(card) return card:IsType(MONSTER) and card:IsAbleToRemove() end, 0, GRAVE, 1, 2),
  operation = function(e)
    local left = targets_left(e)
    if #left > 0 then Duel.Remove(left, UP, BY_EFFECT) end
  end,
}), {
  type = FIELD, code = 67, property = TARGETS_PLAYER, range = MZONE, other = 1,
  target = function(_, card) return card:IsLocation(GRAVE) end,
})
cards[76922029] = with(single(MAY_TRIGGER, BATTLE_DAMAGE, {
  text = 0, condition = to_other,
  target = function(e, player, _, _, _, _, _, _, check)
    local options = {}
    if Duel.GetFieldGroupCount(player, 0, HAND) > 0 then options[#options + 1] = 1 end
    if Duel.IsPlayerCanDiscardDeck(1 - player, 2) then options[#options + 1] = 2 end
    if check == 0 then return #options > 0 end
    local lines = {}
    for number, option in ipairs(options) do lines[number] = 76922029 << 20 | option end
    e:SetLabel(options[Duel.SelectOption(player, table.unpack(lines)) + 1])
  end,
  operation = function(e, player)
    if e:GetLabel() == 1 then
      discard_at_random(1 - player)
    else
      Duel.DiscardDeck(1 - player, 2, BY_EFFECT)
    end
  end,
}))
cards[7572887] = with(single(MAY_TRIGGER, BATTLED, {
  text = 0,
  target = function(e, _, _, _, _, _, _, _, check)
    local card, attacker, attacked = e:GetHandler(), Duel.GetAttacker(), Duel.GetAttackTarget()
    if check == 0 then
      return attacked == card and attacker:IsAbleToRemove()
        or attacker == card and attacked ~= nil and attacked:IsAbleToRemove()
    end
  end,
  operation = function()
    local group = Group.FromCards(Duel.GetAttacker(), Duel.GetAttackTarget())
    Duel.Remove(group:Filter(Card.IsRelateToBattle, nil), UP, BY_EFFECT)
  end,
}))
cards[31305911] = with({ type = SINGLE, code = SAFE_IN_BATTLE, value = 1 }, single(MUST_TRIGGER, BATTLED, {
  text = 0,
  condition = function(e)
    local card = e:GetHandler()
    return card == Duel.GetAttackTarget() and card:GetBattlePosition() & 0xa ~= 0 and card:IsLocation(MZONE)
  end,
  target = function(e, _, _, _, _, _, _, _, check)
    if check == 0 then return true end
    e:SetLabel(Duel.GetAttacker():GetControler())
  end,
  operation = function(e) Duel.Damage(e:GetLabel(), 1000, BY_EFFECT) end,
}))
cards[23205979] = with({ type = SINGLE, code = SAFE_IN_BATTLE, value = 1 }, single(MUST_TRIGGER, BATTLE_DAMAGE, {
  text = 0, target = always, operation = discards_other,
  condition = function(_, player, _, hurt) return hurt ~= player and Duel.GetAttackTarget() == nil end,
}), on_itself(SELF_DESTRUCTION, nil, function(e) return e:GetHandler():GetOwnerTargetCount() > 0 end), {
  type = FIELD | CONTINUOUS, code = 1028, property = CANNOT_NEGATE, range = MZONE,
  operation = function(e, _, _, _, link) e:GetHandler():RegisterFlagEffect(23205980, 0x80000000, 0, 1, link) end,
}, {
  type = FIELD | CONTINUOUS, code = 1022, range = MZONE,
  operation = function(e, _, _, _, link)
    local card, chosen = e:GetHandler(), Duel.GetChainInfo(link, 8)
    local was_on_field = false
    for _, noted in ipairs { card:GetFlagEffectLabel(23205980) } do was_on_field = was_on_field or noted == link end
    if not was_on_field or not chosen or not chosen:IsContains(card) then return end
    if Duel.GetCurrentPhase() & 0x60 ~= 0 and not Duel.IsDamageCalculated() then
      card:RegisterFlagEffect(23205979, ENDS_WITH_STEP | ENDS_WITH_CARD, 0, 1)
    elseif not card:IsDisabled() then
      Duel.Destroy(card, BY_EFFECT)
    end
  end,
}, {
  type = FIELD | CONTINUOUS, code = BATTLED, range = MZONE,
  operation = function(e)
    local card = e:GetHandler()
    if card:GetFlagEffect(23205979) > 0 and not card:IsDisabled() then Duel.Destroy(card, BY_EFFECT) end
  end,
})
local function beaten(e) return e:GetHandler():IsLocation(GRAVE) and e:GetHandler():IsReason(BY_BATTLE) end
local function recruiting(attributes)
  local function fits(card, e, player)
    return card:IsAttribute(attributes) and card:IsAttackBelow(1500)
      and card:IsCanBeSpecialSummoned(e, 0, player, false, false, UP_ATTACK)
  end
  return with(single(MAY_TRIGGER, LOST_BATTLE, {
    text = 0, condition = beaten,
    target = function(e, player, _, _, _, _, _, _, check)
      if check == 0 then
        return Duel.GetLocationCount(player, MZONE) > 0
          and Duel.IsExistingMatchingCard(fits, player, DECK, 0, 1, nil, e, player)
      end
    end,
    operation = function(e, player)
      if Duel.GetLocationCount(player, MZONE) < 1 then return end
      local found = Duel.SelectMatchingCard(player, fits, player, DECK, 0, 1, 1, nil, e, player)
      if #found > 0 then Duel.SpecialSummon(found, 0, player, player, false, false, UP_ATTACK) end
    end,
  }))
end
cards[83011277] = recruiting(DARK)
cards[95956346] = recruiting(LIGHT)
cards[97017120] = recruiting(EARTH)
cards[57839750] = recruiting(WATER)
cards[60806437] = recruiting(FIRE)
cards[84834865] = recruiting(WIND)
local function multiplying(code, position, first)
  local function fits(card, e, player)
    return card:IsCode(code) and card:IsCanBeSpecialSummoned(e, 0, player, false, false, position)
  end
  return with(single(MUST_TRIGGER, LOST_BATTLE, {
    text = 0, condition = beaten, target = always,
    operation = function(e, player)
      first(player)
      local zones = Duel.GetLocationCount(player, MZONE)
      local copies = Duel.GetMatchingGroup(fits, player, DECK, 0, nil, e, player)
      if zones < 1 or #copies == 0 or not Duel.SelectYesNo(player, code << 20 | 1) then return end
      Duel.BreakEffect()
      local chosen = copies:Select(player, 1, math.min(zones, #copies), nil)
      Duel.SpecialSummon(chosen, 0, player, player, false, false, position)
    end,
  }))
end
cards[95178994] = multiplying(95178994, UP_ATTACK, function(player) Duel.Damage(1 - player, 500, BY_EFFECT) end)
cards[22567609] = multiplying(22567609, DOWN_DEFENSE, function(player) Duel.Recover(player, 1000, BY_EFFECT) end)
cards[4335645] = with(single(MUST_TRIGGER, LOST_BATTLE, {
  text = 0, property = TARGETS_CARD, condition = beaten, target = must_choose(any, MZONE, MZONE), operation = destroy_targets,
}))
cards[47507260] = with(single(MUST_TRIGGER, BATTLE_START, {
  text = 0, target = always,
  condition = function(e)
    local attacked = Duel.GetAttackTarget()
    return e:GetHandler() == Duel.GetAttacker() and attacked and attacked:IsFacedown() and attacked:IsDefensePos()
  end,
  operation = function()
    local attacked = Duel.GetAttackTarget()
    if attacked:IsRelateToBattle() then Duel.Destroy(attacked, BY_EFFECT) end
  end,
}))
cards[39507162] = with(on_itself(UPDATE_ATTACK, 400, function(e)
  return Duel.GetFieldGroupCount(e:GetHandlerPlayer(), HAND, 0) <= 1
end), {
  type = SINGLE | CONTINUOUS, code = BATTLED, range = MZONE,
  condition = function(e) return Duel.GetFieldGroupCount(e:GetHandlerPlayer(), MZONE, 0) == 1 end,
  operation = function(e)
    local beaten_card = e:GetHandler():GetBattleTarget()
    if beaten_card and beaten_card:IsStatus(0x4000) and beaten_card:IsType(FLIP) then
      for _, code in ipairs { DISABLED, DISABLED_EFFECT } do
        register(beaten_card, { owner = e:GetHandler(), type = SINGLE, code = code, reset = ENDS_WITH_CARD & ~0x840000 })
      end
    end
  end,
})
cards[78658564] = with({
  type = FIELD | CONTINUOUS, code = PHASE | BATTLE_END, range = MZONE, once = { 1 },
  condition = function(e) return e:GetHandler():GetAttackedCount() > 0 end,
  operation = function(e)
    local card = e:GetHandler()
    if card:IsAttackPos() then Duel.ChangePosition(card, UP_DEFENSE) end
    register(card, {
      type = SINGLE, code = CANNOT_MOVE, property = CANNOT_NEGATE, reset = ENDS_WITH_TURN | ENDS_WITH_CARD, turns = 3,
    })
  end,
})
cards[40640057] = with({
  type = QUICK, code = BEFORE_CALCULATION, text = 0, range = HAND, cost = discard_itself,
  condition = function(_, player) return Duel.GetTurnPlayer() ~= player and Duel.GetBattleDamage(player) > 0 end,
  operation = function(e, player)
    Duel.RegisterEffect(effect(e:GetHandler(), {
      type = FIELD, code = NO_BATTLE_DAMAGE, property = TARGETS_PLAYER, own = 1, reset = ENDS_WITH_STEP,
    }), player)
  end,
})
cards[79575620] = with({
  type = QUICK, code = BEFORE_CALCULATION, text = 0, range = MZONE,
  condition = function(e)
    local card = e:GetHandler()
    return card:GetFlagEffect(79575620) == 0 and (Duel.GetAttacker() == card or Duel.GetAttackTarget() == card)
  end,
  cost = function(e, player, _, _, _, _, _, _, check)
    if check == 0 then return Duel.CheckLPCost(player, 2000) end
    Duel.PayLPCost(player, 2000)
    e:GetHandler():RegisterFlagEffect(79575620, 0x40000040, 0, 1)
  end,
  operation = function(e)
    register(e:GetHandler(), { type = SINGLE, code = UPDATE_ATTACK, value = 3000, reset = 0x40000040 })
  end,
})

-- Effects that are used in one's own main phase, and special summons.
cards[71625222] = with {
  type = IGNITION, text = 0, range = MZONE, once = { 1 }, target = always,
  operation = function(_, player)
    local called = Duel.SelectOption(player, 60, 61)
    local heads = Duel.TossCoin(player, 1)
    if (called == 0) == (heads == 1) then
      Duel.Destroy(Duel.GetFieldGroup(player, 0, MZONE), BY_EFFECT)
      return
    end
    Duel.Destroy(Duel.GetFieldGroup(player, MZONE, 0), BY_EFFECT)
    local sum = 0
    for_each(Duel.GetOperatedGroup(), function(card)
      if card:IsPreviousPosition(UP) then sum = sum + card:GetPreviousAttackOnField() end
    end)
    Duel.Damage(player, sum // 2, BY_EFFECT)
  end,
}
cards[33184167] = with {
  type = IGNITION, text = 0, range = MZONE, cost = discard(1),
  target = function(e, player, _, _, _, _, _, _, check)
    local all = Duel.GetMatchingGroup(is_up, player, MZONE, MZONE, nil)
    if check == 0 then return #all > 0 end
    local races = 0
    for_each(all, function(card) races = races | card:GetRace() end)
    e:SetLabel(Duel.AnnounceRace(player, 1, races))
  end,
  operation = function(e, player)
    local all = Duel.GetMatchingGroup(both(is_up, race(e:GetLabel())), player, MZONE, MZONE, nil)
    Duel.Destroy(all, BY_EFFECT)
  end,
}
cards[74131780] = with {
  type = IGNITION, text = 0, property = TARGETS_CARD, range = MZONE, cost = tribute_itself,
  target = choose(any, MZONE, MZONE, 1, 1, true), operation = destroy_targets,
}
local function is_thunder_dragon(card) return card:IsCode(31786629) and card:IsAbleToHand() end
cards[31786629] = with {
  type = IGNITION, text = 0, range = HAND, cost = discard_itself, target = exist(is_thunder_dragon, DECK, 0),
  operation = function(_, player)
    local found = Duel.SelectMatchingCard(player, is_thunder_dragon, player, DECK, 0, 1, 2, nil)
    if #found > 0 then
      Duel.SendtoHand(found, nil, BY_EFFECT)
      Duel.ConfirmCards(1 - player, found)
    end
  end,
}
cards[70095154] = with {
  type = FIELD, code = SUMMON_PROCEDURE, property = NOT_COPIED, range = HAND,
  condition = function(_, card)
    if card == nil then return true end
    local player = card:GetControler()
    return Duel.GetFieldGroupCount(player, MZONE, 0) == 0 and Duel.GetFieldGroupCount(player, 0, MZONE) > 0
      and Duel.GetLocationCount(player, MZONE) > 0
  end,
}

-- In the graveyard, and Spirits.
local function is_serpent(card) return card:IsCode(8131171) and card:IsAbleToRemove() end
cards[8131171] = with {
  type = FIELD | MAY_TRIGGER, code = PHASE | STANDBY_PHASE, text = 0, range = GRAVE, once = { 1, 8131171 },
  condition = function(_, player) return Duel.GetTurnPlayer() == player end,
  target = function(e, _, _, _, _, _, _, _, check)
    if check == 0 then return e:GetHandler():IsAbleToHand() end
  end,
  operation = function(e, player)
    if itself(e) then Duel.SendtoHand(e:GetHandler(), nil, BY_EFFECT) end
    Duel.RegisterEffect(effect(e:GetHandler(), {
      type = FIELD | CONTINUOUS, code = PHASE | END_PHASE, once = { 1 }, reset = ENDS_WITH_TURN | 0x20000000,
      condition = function()
        return Duel.GetTurnPlayer() ~= player and Duel.IsExistingMatchingCard(is_serpent, player, GRAVE, 0, 1, nil)
      end,
      operation = function()
        local found = Duel.SelectMatchingCard(player, is_serpent, player, GRAVE, 0, 1, 1, nil)
        if #found > 0 then Duel.Remove(found, UP, BY_EFFECT) end
      end,
    }), player)
  end,
}
local function returns_at_end(e)
  register(e:GetHandler(), {
    type = FIELD | MUST_TRIGGER, code = PHASE | END_PHASE, line = 1105, range = MZONE, once = { 1 }, target = always,
    reset = ENDS_WITH_TURN | ENDS_WITH_CARD,
    operation = function(used)
      if itself(used) then Duel.SendtoHand(used:GetHandler(), nil, BY_EFFECT) end
    end,
  })
end
cards[2134346] = with(
  { type = SINGLE, code = SUMMON_CONDITION, property = CANNOT_NEGATE | NOT_COPIED, value = 0 },
  { type = SINGLE, code = ATTACKS_ALL, value = 1 },
  { type = SINGLE | CONTINUOUS, code = SUMMONED, operation = returns_at_end },
  { type = SINGLE | CONTINUOUS, code = 1001, operation = returns_at_end }
)

-- A monster that is summoned by banishing a LIGHT and a DARK monster from one's graveyard.
local function can_be_banished(card)
  return card:IsAttribute(LIGHT | DARK) and card:IsType(MONSTER) and card:IsAbleToRemoveAsCost()
end
local function pair_fits(first, second)
  return first:IsAttribute(LIGHT) and second:IsAttribute(DARK) or first:IsAttribute(DARK) and second:IsAttribute(LIGHT)
end
local function has_partner(card, all)
  return all:IsExists(function(other) return other ~= card and pair_fits(card, other) end, 1, nil)
end
local function pick_pair(player)
  local all = Duel.GetMatchingGroup(can_be_banished, player, GRAVE, 0, nil)
  local picked = Group.CreateGroup()
  while #picked < 2 do
    local first = picked:GetFirst()
    local offered = all:Filter(function(card)
      if first then return card ~= first and pair_fits(first, card) end
      return has_partner(card, all)
    end, nil)
    local chosen = offered:SelectUnselect(picked, player, false, #picked == 0, 2, 2)
    if not chosen then return nil end
    if picked:IsContains(chosen) then picked:RemoveCard(chosen) else picked:AddCard(chosen) end
  end
  return picked
end
cards[9596126] = function(card)
  card:EnableReviveLimit()
  register(card, {
    type = FIELD, code = SUMMON_PROCEDURE, property = NOT_COPIED, range = HAND, text = 0,
    condition = function(_, monster)
      if monster == nil then return true end
      local player = monster:GetControler()
      local all = Duel.GetMatchingGroup(can_be_banished, player, GRAVE, 0, nil)
      return Duel.GetLocationCount(player, MZONE) > 0 and all:IsExists(has_partner, 1, nil, all)
    end,
    target = function(e, player)
      local picked = pick_pair(player)
      if not picked then return false end
      picked:KeepAlive()
      e:SetLabelObject(picked)
      return true
    end,
    operation = function(e) Duel.Remove(e:GetLabelObject(), UP, BY_COST) end,
  })
  register(card, {
    type = IGNITION, text = 1, property = TARGETS_CARD, range = MZONE, once = { 1 },
    cost = function(_, _, _, _, _, _, _, _, check)
      if check == 0 then return card:GetAttackAnnouncedCount() == 0 end
      register(card, { type = SINGLE, code = CANNOT_ATTACK, property = OATH, reset = ENDS_WITH_TURN | ENDS_WITH_CARD })
    end,
    target = choose(function(monster) return monster:IsFaceup() and monster:IsAbleToRemove() end, MZONE, MZONE),
    operation = function(e)
      local chosen = target_left(e)
      if chosen and chosen:IsFaceup() then Duel.Remove(chosen, UP, BY_EFFECT) end
    end,
  })
end
