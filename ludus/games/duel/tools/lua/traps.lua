-- The traps, in the order of our tables.

local function strong_summon(least)
  return function(e, player, group, causer, _, _, _, _, check)
    local card = group:GetFirst()
    if check == 0 then return player ~= causer and card:IsFaceup() and card:IsAttackAbove(least) and card:IsOnField() and card:IsCanBeEffectTarget(e) end
    Duel.SetTargetCard(group)
  end
end
cards[4206964] = with(on_each({ SUMMONED, FLIP_SUMMONED }, {
  type = ACTIVATE, property = TARGETS_CARD, target = strong_summon(1000),
  operation = function(e)
    local card = target_left(e)
    if card and card:IsFaceup() and card:IsAttackAbove(1000) then Duel.Destroy(card, BY_EFFECT) end
  end,
}))

local function others_turn(_, player) return Duel.GetTurnPlayer() ~= player end
local function in_attack(card) return card:IsAttackPos() end
cards[44095762] = with(activation {
  code = ATTACK, condition = others_turn, target = exist(in_attack, 0, MZONE), operation = destroy_all(in_attack, 0, MZONE),
})
cards[12607053] = with(activation {
  operation = function(e, player)
    local function for_turn(fields)
      Duel.RegisterEffect(effect(e:GetHandler(), merge(fields, { type = FIELD, reset = ENDS_WITH_TURN })), player)
    end
    for_turn { code = SAFE_IN_BATTLE, own = MZONE, value = 1 }
    for_turn { code = NO_BATTLE_DAMAGE, property = TARGETS_PLAYER, own = 1, value = 1 }
  end,
})
cards[17814387] = with(raising(is_up, UPDATE_ATTACK, 500))
cards[44209392] = with(raising(function(card) return card:IsFaceup() and has_defense(card) end, UPDATE_DEFENSE, 500))
cards[24068492] = with(activation {
  target = exist(any, 0, MZONE),
  operation = function(_, player)
    Duel.Damage(1 - player, 500 * Duel.GetFieldGroupCount(player, 0, MZONE), BY_EFFECT)
  end,
})
cards[83887306] = with(activation {
  property = TARGETS_CARD,
  target = function(_, player, _, _, _, _, _, _, check)
    if check == 0 then
      return Duel.IsExistingTarget(any, player, MZONE, 0, 2, nil) and Duel.IsExistingTarget(any, player, 0, MZONE, 1, nil)
    end
    Duel.SelectTarget(player, any, player, MZONE, 0, 2, 2, nil)
    Duel.SelectTarget(player, any, player, 0, MZONE, 1, 1, nil)
  end,
  operation = function(e)
    local left = targets_left(e)
    if #left == 3 then Duel.Destroy(left, BY_EFFECT) end
  end,
})

-- Counter traps.
local function negating(types, cost)
  return activation {
    code = CHAINING, cost = cost,
    condition = function(_, _, _, _, link, other)
      return other:IsHasType(ACTIVATE) and other:IsActiveType(types) and Duel.IsChainNegatable(link)
    end,
    target = always,
    operation = function(_, _, group, _, link, other)
      if Duel.NegateActivation(link) and other:GetHandler():IsRelateToEffect(other) then Duel.Destroy(group, BY_EFFECT) end
    end,
  }
end
cards[3819470] = with(negating(TRAP, pay(1000)))
cards[77414722] = with(negating(SPELL, discard(1)))
local function half(_, player, _, _, _, _, _, _, check)
  if check == 0 then return true end
  Duel.PayLPCost(player, Duel.GetLP(player) // 2)
end
local function stopping_summon(cost)
  return on_each({ SUMMON, FLIP_SUMMON, SPECIAL_SUMMON }, {
    type = ACTIVATE, cost = cost, target = always,
    condition = function() return Duel.GetCurrentChain() == 0 end,
    operation = function(_, _, group)
      Duel.NegateSummon(group)
      Duel.Destroy(group, BY_EFFECT)
    end,
  })
end
cards[41420027] = with(negating(SPELL | TRAP, half), stopping_summon(half))
cards[98069388] = with(stopping_summon(tribute_one))

-- Answers to summons and attacks.
cards[53582587] = with(on_each({ SUMMONED, FLIP_SUMMONED, SPECIAL_SUMMONED }, {
  type = ACTIVATE, target = exist(any, MZONE, MZONE), operation = destroy_all(any, MZONE, MZONE),
}))
local function attacker_is_target(e, player, _, _, _, _, _, _, check)
  local attacker = Duel.GetAttacker()
  if check == 0 then return attacker:IsOnField() and attacker:IsCanBeEffectTarget(e) end
  Duel.SetTargetCard(attacker)
end
local function answering_attack(operation)
  return activation {
    code = ATTACK, property = TARGETS_CARD, condition = others_turn, target = attacker_is_target, operation = operation,
  }
end
cards[56120475] = with(answering_attack(function(e)
  local attacker = target_left(e)
  if attacker and attacker:CanAttack() and not attacker:IsStatus(0x200000) then Duel.Destroy(attacker, BY_EFFECT) end
end))
cards[62279055] = with(answering_attack(function(e, player)
  local attacker = target_left(e)
  if attacker and attacker:CanAttack() and Duel.NegateAttack(attacker) then
    Duel.Damage(1 - player, attacker:GetAttack(), BY_EFFECT)
  end
end))
cards[43250041] = with(answering_attack(function(e, player)
  local attacker = target_left(e)
  if attacker and attacker:CanAttack() and Duel.NegateAttack() then Duel.Recover(player, attacker:GetAttack(), BY_EFFECT) end
end))
cards[14315573] = with(answering_attack(function(e)
  if target_left(e) and Duel.NegateAttack() then Duel.SkipPhase(1 - e:GetHandlerPlayer(), 0x80, 0x40000000 | 0x10, 1) end
end))
cards[77754944] = with(activation {
  code = ATTACK, condition = others_turn, target = exist(in_attack, 0, MZONE),
  operation = function(_, player)
    local all = Duel.GetMatchingGroup(in_attack, player, 0, MZONE, nil)
    destroy_best(all, function(group) return group:GetMaxGroup(Card.GetAttack) end, player)
  end,
})

-- Free ones.
cards[4178474] = with(activation {
  property = TARGETS_CARD, cost = discard(1), target = choose(any, ON_FIELD, ON_FIELD, 1, 1, true), operation = destroy_targets,
})
cards[94192409] = with(activation {
  property = TARGETS_CARD, target = choose(to_hand_able, MZONE, MZONE), operation = return_targets,
})
cards[126218] = with(dice(-1, 0, MZONE))
cards[83968380] = with(activation(draw(1)))
cards[60082869] = with(activation {
  property = TARGETS_CARD, target = choose(is_spell_or_trap, 0, ON_FIELD),
  operation = function(e, player)
    local chosen = target_left(e)
    if not chosen or Duel.Destroy(chosen, BY_EFFECT) == 0 then return end
    local function can_be_set(card) return card:IsSSetable() and is_spell_or_trap(card) end
    local hand = Duel.GetMatchingGroup(can_be_set, player, HAND, 0, nil)
    if #hand > 0 and Duel.SelectYesNo(player, 60082869 << 20) then
      Duel.BreakEffect()
      Duel.SSet(player, hand:Select(player, 1, 1, nil))
    end
  end,
})

-- Those that stay.
cards[85742772] = with(activation {}, {
  type = FIELD, code = CANNOT_ATTACK, range = SZONE, own = MZONE, other = MZONE,
  target = function(_, card) return card:IsLevelAbove(4) end,
})
cards[51452091] = with(activation {}, {
  type = FIELD, code = DISABLED, range = SZONE, own = SZONE, other = SZONE,
  target = function(e, card) return card ~= e:GetHandler() and card:IsType(TRAP) end,
}, {
  type = FIELD | CONTINUOUS, code = 1020, range = SZONE,
  operation = function(e, _, _, _, link, other)
    if other:GetActivateLocation() & SZONE ~= 0 and other:IsActiveType(TRAP) and other:GetHandler() ~= e:GetHandler() then
      Duel.NegateEffect(link)
    end
  end,
})
cards[50045299] = with(activation {}, sitting(race(DRAGON)), {
  type = FIELD, code = CANNOT_MOVE, range = SZONE, own = MZONE, other = MZONE,
  target = function(_, card) return card:IsFaceup() and card:IsRace(DRAGON) end,
})

-- Ring of Destruction, Bottomless Trap Hole, Call of the Haunted.
cards[83555666] = with(activation {
  property = TARGETS_CARD, condition = others_turn, once = { 1, 83555666, 1 },
  target = function(e, player, eg, ep, ev, re, r, rp, check)
    local points = Duel.GetLP(1 - player)
    local function fits(card) return card:IsFaceup() and card:IsAttackBelow(points) end
    return choose(fits, 0, MZONE)(e, player, eg, ep, ev, re, r, rp, check)
  end,
  operation = function(e, player)
    local chosen = target_left(e)
    if not chosen or not chosen:IsFaceup() or Duel.Destroy(chosen, BY_EFFECT) == 0 then return end
    local taken = Duel.Damage(player, math.max(0, chosen:GetTextAttack()), BY_EFFECT)
    if taken > 0 and Duel.GetLP(player) > 0 then
      Duel.BreakEffect()
      Duel.Damage(1 - player, taken, BY_EFFECT)
    end
  end,
})
local function is_strong(card, summoner_not)
  return card:IsLocation(MZONE) and card:IsFaceup() and card:GetAttack() >= 1500 and card:GetSummonPlayer() ~= summoner_not
end
cards[29401950] = with(on_each({ SUMMONED, FLIP_SUMMONED, SPECIAL_SUMMONED }, {
  type = ACTIVATE,
  target = function(e, player, group, causer, _, _, _, _, check)
    local function fits(card)
      if e:GetCode() ~= SPECIAL_SUMMONED and causer == player then return false end
      return is_strong(card, e:GetCode() == SPECIAL_SUMMONED and player or nil) and card:IsAbleToRemove()
    end
    if check == 0 then return group:IsExists(fits, 1, nil) end
    Duel.SetTargetCard(group)
  end,
  operation = function(e, player, group)
    local function fits(card)
      return is_strong(card, e:GetCode() == SPECIAL_SUMMONED and player or nil) and card:IsRelateToEffect(e)
    end
    local found = group:Filter(fits, nil)
    if #found > 0 then Duel.Destroy(found, BY_EFFECT, BANISHED) end
  end,
}))
cards[97077563] = function(card)
  register(card, activation {
    text = 0, property = TARGETS_CARD, target = choose_from_grave(revivable(UP_ATTACK), 0),
    operation = function(e, player)
      local chosen = target_left(e)
      if chosen and Duel.SpecialSummonStep(chosen, 0, player, player, false, false, UP_ATTACK) and itself(e) then
        card:SetCardTarget(chosen)
      end
      Duel.SpecialSummonComplete()
    end,
  })
  local was_disabled = false
  register(card, {
    type = SINGLE | CONTINUOUS, code = LEAVING_FIELD, property = CANNOT_NEGATE,
    operation = function() was_disabled = card:IsDisabled() end,
  })
  register(card, {
    type = SINGLE | CONTINUOUS, code = LEFT_FIELD,
    operation = function()
      local monster = card:GetFirstCardTarget()
      if not was_disabled and monster and monster:IsLocation(MZONE) then Duel.Destroy(monster, BY_EFFECT) end
    end,
  })
  register(card, {
    type = FIELD | CONTINUOUS, code = LEFT_FIELD, range = SZONE,
    condition = function(_, _, group)
      local monster = card:GetFirstCardTarget()
      return monster and group:IsContains(monster) and monster:IsReason(BY_DESTRUCTION)
    end,
    operation = function() Duel.Destroy(card, BY_EFFECT) end,
  })
end
