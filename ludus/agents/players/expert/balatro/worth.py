"""Hand-tuned values that trial hands do not measure, such as money and growth, in logarithms of the score of a hand.

0.1 is worth about 10 % of all future scores.
"""

import numpy as np

from ludus.games.balatro.tables import consumables, jokers, vouchers


def _by_key(keys: tuple[str, ...], worth: dict[str, float]) -> np.ndarray:
    assert worth.keys() <= set(keys), worth.keys() - set(keys)
    return np.array([worth.get(key, 0.0) for key in keys])


GROWTH = _by_key(jokers.KEYS, {
    "j_ride_the_bus": 0.3, "j_green_joker": 0.5, "j_runner": 0.15, "j_constellation": 0.35, "j_square": 0.15,
    "j_trousers": 0.35, "j_supernova": 0.35, "j_hologram": 0.15, "j_vampire": 0.1, "j_lucky_cat": 0.05, "j_castle": 0.2,
    "j_wee": 0.2, "j_obelisk": 0.05, "j_ceremonial": 0.1, "j_flash": 0.15, "j_fortune_teller": 0.2, "j_red_card": 0.05,
    "j_hiker": 0.15, "j_space": 0.3, "j_burnt": 0.3, "j_campfire": 0.15, "j_glass": 0.05, "j_caino": 0.4,
    "j_yorick": 0.6, "j_perkeo": 0.4, "j_hit_the_road": 0.1, "j_throwback": 0.0, "j_erosion": 0.05, "j_madness": 0.0,
    "j_loyalty_card": 0.15, "j_bloodstone": 0.25, "j_card_sharp": 0.35, "j_acrobat": 0.15, "j_dusk": 0.15,
})  # fmt: skip
"""values of jokers that grow, or that trial hands undervalue, at the start of a run"""
INCOME = _by_key(jokers.KEYS, {
    "j_golden": 4, "j_rocket": 3, "j_to_the_moon": 3, "j_cloud_9": 3, "j_business": 3, "j_reserved_parking": 2,
    "j_rough_gem": 3, "j_delayed_grat": 2, "j_mail": 2.5, "j_faceless": 1.5, "j_todo_list": 2, "j_satellite": 1.5,
    "j_egg": 2, "j_gift": 2.5, "j_ticket": 1, "j_matador": 1, "j_trading": 1.5, "j_credit_card": 0.5, "j_chaos": 2,
    "j_cartomancer": 3, "j_vagabond": 1.5, "j_hallucination": 1, "j_8_ball": 1, "j_astronomer": 3, "j_riff_raff": 2,
    "j_superposition": 0.5, "j_seance": 0.2, "j_sixth_sense": 0.5, "j_certificate": 0.5, "j_marble": 0.0,
    "j_midas_mask": 1, "j_diet_cola": 0.5, "j_invisible": 1, "j_dna": 1,
})  # fmt: skip
"""income of jokers in dollars per round, or the equivalent"""
HELP = _by_key(jokers.KEYS, {
    "j_juggler": 0.12, "j_drunkard": 0.12, "j_troubadour": 0.1, "j_merry_andy": 0.1, "j_turtle_bean": 0.2,
    "j_burglar": 0.1, "j_mr_bones": 0.3, "j_luchador": 0.1, "j_chicot": 0.4, "j_oops": 0.05, "j_stuntman": -0.25,
    "j_gros_michel": -0.1, "j_ice_cream": -0.1, "j_popcorn": -0.15, "j_ramen": -0.1, "j_selzer": -0.2,
})  # fmt: skip
"""other benefits or costs of jokers for future hands"""
TAKEN = _by_key(consumables.KEYS, {
    "c_fool": 0.05, "c_magician": 0.05, "c_high_priestess": 0.15, "c_empress": 0.12, "c_emperor": 0.12,
    "c_heirophant": 0.07, "c_lovers": 0.04, "c_chariot": 0.08, "c_justice": 0.12, "c_hermit": 0.25,
    "c_wheel_of_fortune": 0.08, "c_strength": 0.06, "c_hanged_man": 0.12, "c_death": 0.12, "c_temperance": 0.2,
    "c_devil": 0.05, "c_tower": 0.02, "c_star": 0.07, "c_moon": 0.07, "c_sun": 0.07, "c_judgement": 0.2,
    "c_world": 0.07,
    "c_talisman": 0.08, "c_aura": 0.15, "c_wraith": 0.1, "c_immolate": 0.2, "c_deja_vu": 0.12, "c_trance": 0.08,
    "c_medium": 0.05, "c_cryptid": 0.15, "c_soul": 0.8, "c_black_hole": 0.4, "c_familiar": 0.0, "c_grim": 0.05,
    "c_incantation": 0.0, "c_sigil": 0.1,
})  # fmt: skip
"""values of consumables that are not planets; those not listed are never used"""
VOUCHER = _by_key(vouchers.KEYS, {
    "v_overstock_norm": 0.25, "v_overstock_plus": 0.2, "v_clearance_sale": 0.2, "v_liquidation": 0.25, "v_hone": 0.1,
    "v_glow_up": 0.1, "v_reroll_surplus": 0.15, "v_reroll_glut": 0.15, "v_crystal_ball": 0.05, "v_telescope": 0.2,
    "v_observatory": 0.1, "v_grabber": 0.25, "v_nacho_tong": 0.25, "v_wasteful": 0.2, "v_recyclomancy": 0.2,
    "v_tarot_merchant": 0.1, "v_planet_merchant": 0.2, "v_planet_tycoon": 0.15, "v_seed_money": 0.15,
    "v_money_tree": 0.1, "v_blank": 0.05, "v_antimatter": 0.5, "v_hieroglyph": 0.4, "v_petroglyph": 0.3,
    "v_directors_cut": 0.03, "v_paint_brush": 0.25, "v_palette": 0.25,
})  # fmt: skip
PACK = np.array([0.12, 0.2, 0.04, 0.3, 0.12])
"""values of packs by kind: arcana, celestial, standard, buffoon, spectral"""
PER_DOLLAR = 0.012
"""value of a dollar at the start of a run"""
