-- A monster for the tests of the bridge: each activation from the hand makes the core send another kind of question. Numbers
-- are used instead of the names in constant.lua, so that file is not needed.
local DECK, HAND, MZONE, GRAVE = 1, 2, 4, 16
local COUNTER = 0x1

local function hand(player)
  return Duel.GetFieldGroup(player, HAND, 0)
end

local questions = {
  function(e, tp) Duel.SelectYesNo(tp, 30) end,
  function(e, tp) Duel.SelectEffectYesNo(tp, e:GetHandler(), 10000001 << 20 | 3) end,
  function(e, tp) Duel.SelectOption(tp, 60, 61, 10000001 << 20 | 5) end,
  function(e, tp) Duel.AnnounceRace(tp, 2, 0x2007) end,
  function(e, tp) Duel.AnnounceAttribute(tp, 1, 0x33) end,
  function(e, tp) Duel.AnnounceNumber(tp, 1, 4, 7) end,
  function(e, tp) Duel.AnnounceCard(tp, 0x10, 0x4000010200000000) end,
  function(e, tp) hand(tp):Select(tp, 1, 3, nil) end,
  function(e, tp) hand(tp):Select(tp, 0, 2, nil) end,
  function(e, tp) Duel.SelectPosition(tp, e:GetHandler(), 0xd) end,
  function(e, tp) Duel.SelectDisableField(tp, 2, MZONE, MZONE, 0) end,
  function(e, tp) hand(tp):SelectUnselect(Group.CreateGroup(), tp, true, false, 1, 3) end,
  function(e, tp) hand(tp):SelectWithSumEqual(tp, function() return 2 end, 4, 1, 3) end,
  function(e, tp) hand(tp):SelectWithSumGreater(tp, function() return 3 end, 5) end,
  function(e, tp)
    local cards = hand(tp)
    Duel.SetSelectedCard(cards:GetFirst())
    cards:SelectWithSumEqual(tp, function() return 1 | 4 << 16 end, 6, 1, 3)
  end,
  function(e, tp) Duel.SortDecktop(tp, tp, 3) end,
  function(e, tp) Duel.TossCoin(tp, 3) end,
  function(e, tp) Duel.TossDice(tp, 2) end,
  function(e, tp) Duel.RockPaperScissors() end,
  function(e, tp) hand(1 - tp):RandomSelect(tp, 1) end,
  function(e, tp) Duel.ShuffleHand(tp) end,
  function(e, tp)
    Duel.ConfirmCards(tp, hand(1 - tp))
    hand(1 - tp):Select(tp, 1, 1, nil)
  end,
  function(e, tp)
    local monsters = Duel.GetFieldGroup(tp, MZONE, 0)
    local monster = monsters:GetFirst()
    while monster do
      monster:EnableCounterPermit(COUNTER)
      monster:AddCounter(COUNTER, 2)
      monster = monsters:GetNext()
    end
    if Duel.GetFieldGroupCount(tp, MZONE, 0) > 1 then Duel.RemoveCounter(tp, 1, 0, COUNTER, 3, 0x40) end
  end,
  function(e, tp)
    local monsters = Duel.GetFieldGroup(tp, MZONE, 0)
    local below = Duel.GetFieldGroup(tp, GRAVE, 0)
    if #monsters > 0 and #below > 0 then Duel.Overlay(monsters:GetFirst(), below:GetFirst()) end
  end,
}

local activations = 0

function c10000001.initial_effect(c)
  local effect = Effect.CreateEffect(c)
  effect:SetType(0x40)
  effect:SetRange(HAND)
  effect:SetDescription(10000001 << 20 | 1)
  effect:SetOperation(function(e, tp)
    activations = activations + 1
    questions[(activations - 1) % #questions + 1](e, tp)
  end)
  c:RegisterEffect(effect)
  local quick = Effect.CreateEffect(c)
  quick:SetType(0x100)
  quick:SetCode(1002)
  quick:SetRange(MZONE)
  quick:SetCountLimit(1)
  quick:SetDescription(10000001 << 20 | 2)
  quick:SetOperation(function(e, tp) end)
  c:RegisterEffect(quick)
end
