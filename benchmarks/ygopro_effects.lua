-- Five cards of our own with the effects that decks are made of, so that a core with scripts can be measured. One file for all of
-- them: the benchmark hands it over under the name of each card. Numbers instead of the names of constant.lua, which is not needed.
local DECK, MZONE = 1, 4
local NORMAL, MONSTER, BY_EFFECT = 0x10, 0x1, 0x40
local FIELD, ACTIVATE, IGNITION, TRIGGER = 0x2, 0x10, 0x40, 0x80
local AT_ANY_TIME, SUMMONED, ATTACKED, MORE_ATTACK = 1002, 1100, 1130, 100
local TARGETS = 0x10

local function is_monster(card) return card:IsType(MONSTER) end
local function is_found(card) return card:IsType(NORMAL) and card:IsAbleToHand() end

local function effect(card, kind, code)
  local made = Effect.CreateEffect(card)
  made:SetType(kind)
  if code then made:SetCode(code) end
  return made
end

-- All monsters of its owner have 200 more, as long as it is there; once a turn it gives 300 points.
local function leader(card)
  local stronger = effect(card, FIELD, MORE_ATTACK)
  stronger:SetRange(MZONE)
  stronger:SetTargetRange(MZONE, 0)
  stronger:SetValue(200)
  card:RegisterEffect(stronger)
  local healing = effect(card, IGNITION)
  healing:SetRange(MZONE)
  healing:SetCountLimit(1)
  healing:SetOperation(function(_, player) Duel.Recover(player, 300, BY_EFFECT) end)
  card:RegisterEffect(healing)
end

-- When it is summoned, a Normal Monster from the deck comes to the hand.
local function seeker(card)
  local search = effect(card, 0x1 | TRIGGER, SUMMONED)
  search:SetTarget(function(_, player)
    return Duel.IsExistingMatchingCard(is_found, player, DECK, 0, 1, nil)
  end)
  search:SetOperation(function(_, player)
    local found = Duel.SelectMatchingCard(player, is_found, player, DECK, 0, 1, 1, nil)
    if #found > 0 then
      Duel.SendtoHand(found, nil, BY_EFFECT)
      Duel.ConfirmCards(1 - player, found)
    end
  end)
  card:RegisterEffect(search)
end

-- A spell: draw two cards.
local function gift(card)
  local drawing = effect(card, ACTIVATE, AT_ANY_TIME)
  drawing:SetTarget(function(_, player) return Duel.IsPlayerCanDraw(player, 2) end)
  drawing:SetOperation(function(_, player) Duel.Draw(player, 2, BY_EFFECT) end)
  card:RegisterEffect(drawing)
end

-- A spell: destroy a monster.
local function storm(card)
  local destroying = effect(card, ACTIVATE, AT_ANY_TIME)
  destroying:SetProperty(TARGETS)
  destroying:SetTarget(function(_, player, _, _, _, _, _, _, check)
    if check == 0 then return Duel.IsExistingTarget(is_monster, player, 0, MZONE, 1, nil) end
    Duel.SelectTarget(player, is_monster, player, 0, MZONE, 1, 1, nil)
  end)
  destroying:SetOperation(function(used)
    local target = Duel.GetFirstTarget()
    if target and target:IsRelateToEffect(used) then Duel.Destroy(target, BY_EFFECT) end
  end)
  card:RegisterEffect(destroying)
end

-- A trap: what attacks is destroyed.
local function pit(card)
  local trap = effect(card, ACTIVATE, ATTACKED)
  trap:SetOperation(function()
    local attacker = Duel.GetAttacker()
    if attacker then Duel.Destroy(attacker, BY_EFFECT) end
  end)
  card:RegisterEffect(trap)
end

local cards = { [10000011] = leader, [10000012] = seeker, [10000013] = gift, [10000014] = storm, [10000015] = pit }
self_table.initial_effect = cards[self_code]
