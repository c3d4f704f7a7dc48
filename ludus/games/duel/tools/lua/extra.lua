-- The monsters of the extra deck that have no effects, and how they are made.

local materials = {}
local function fusion(...)
  local codes = { ... }
  return function(card)
    card:EnableReviveLimit()
    materials[card:GetOriginalCode()] = codes
  end
end
cards[45231177] = fusion(34460851, 44287299)
cards[25655502] = fusion(93889755, 13215230)
cards[41462083] = fusion(71625222, 88819587)
cards[66889139] = fusion(6368038, 28279543)
cards[23995346] = fusion(89631139, 89631139, 89631139)
cards[11901678] = fusion(70781052, 74677422)

-- The names that are still missing when these cards are picked; nil where one of them does not fit.
local function missing(codes, picked)
  local left = { table.unpack(codes) }
  local fits = true
  for_each(picked, function(card)
    local found = nil
    for place, code in ipairs(left) do
      if card:IsCode(code) then found = place end
    end
    if found then table.remove(left, found) else fits = false end
  end)
  return fits and left or nil
end

-- Whether the picked cards, with others of the group, become all that is needed and leave a zone free.
local function leads_on(player, monster, picked, group)
  local left = missing(materials[monster:GetOriginalCode()], picked)
  if not left then return false end
  if #left == 0 then return Duel.GetLocationCountFromEx(player, player, picked, monster) > 0 end
  local found = false
  for_each(group:Clone(), function(card)
    if not found and not picked:IsContains(card) then
      picked:AddCard(card)
      found = leads_on(player, monster, picked, group)
      picked:RemoveCard(card)
    end
  end)
  return found
end

local function fusion_materials(player)
  return Duel.GetMatchingGroup(function(card) return card:IsType(MONSTER) and card:IsCanBeFusionMaterial() end, player, HAND | MZONE, 0, nil)
end

local function can_be_fused(card, e, player, group)
  return materials[card:GetOriginalCode()] and card:IsCanBeSpecialSummoned(e, 0x43000000, player, false, false)
    and leads_on(player, card, Group.CreateGroup(), group)
end

local function pick_materials(player, monster, group)
  local picked = Group.CreateGroup()
  while #missing(materials[monster:GetOriginalCode()], picked) > 0 do
    local offered = group:Filter(function(card)
      if picked:IsContains(card) then return false end
      picked:AddCard(card)
      local leads = leads_on(player, monster, picked, group)
      picked:RemoveCard(card)
      return leads
    end, nil)
    local count = #materials[monster:GetOriginalCode()]
    local chosen = offered:SelectUnselect(picked, player, false, #picked == 0, count, count)
    if not chosen then return nil end
    if picked:IsContains(chosen) then picked:RemoveCard(chosen) else picked:AddCard(chosen) end
  end
  return picked
end

cards[24094653] = with(activation {
  line = 1170,
  target = function(e, player, _, _, _, _, _, _, check)
    if check == 0 then
      return Duel.IsExistingMatchingCard(can_be_fused, player, EXTRA, 0, 1, nil, e, player, fusion_materials(player))
    end
  end,
  operation = function(e, player)
    local group = fusion_materials(player)
    local made, picked = nil, nil
    while not picked do
      made = Duel.SelectMatchingCard(player, can_be_fused, player, EXTRA, 0, 1, 1, nil, e, player, group):GetFirst()
      if not made then return end
      picked = pick_materials(player, made, group)
    end
    made:SetMaterial(picked)
    Duel.SendtoGrave(picked, BY_EFFECT | 0x8 | 0x40000)
    Duel.BreakEffect()
    Duel.SpecialSummon(made, 0x43000000, player, player, false, false, UP)
    made:CompleteProcedure()
  end,
})
cards[26902560] = with(activation(search(function(card) return card:IsCode(24094653) end)))

-- Metamorphosis: a monster of the same level, which is not properly summoned by that.
local function of_level(card, e, player, level, tribute)
  return card:IsType(0x40) and card:IsLevel(level) and card:IsCanBeSpecialSummoned(e, 0, player, false, false)
    and Duel.GetLocationCountFromEx(player, player, tribute, card) > 0
end
local function can_become(card, e, player)
  return card:IsReleasable() and card:GetLevel() > 0
    and Duel.IsExistingMatchingCard(of_level, player, EXTRA, 0, 1, nil, e, player, card:GetLevel(), card)
end
cards[46411259] = with(activation {
  text = 0,
  cost = function(e, player, _, _, _, _, _, _, check)
    local all = Duel.GetMatchingGroup(can_become, player, MZONE, 0, nil, e, player)
    if check == 0 then return #all > 0 end
    local tribute = all:SelectUnselect(Group.CreateGroup(), player, false, false, 1, 1)
    e:SetLabel(tribute:GetLevel())
    Duel.Release(tribute, BY_COST)
  end,
  operation = function(e, player)
    local found = Duel.SelectMatchingCard(player, of_level, player, EXTRA, 0, 1, 1, nil, e, player, e:GetLabel(), nil)
    if #found > 0 then Duel.SpecialSummon(found, 0, player, player, false, false, UP) end
  end,
})
