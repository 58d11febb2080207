"""Words that anybody could write down, for rules and labelling functions."""

from __future__ import annotations


def word_set(text: str) -> frozenset[str]:
    """The words of a text.

    >>> sorted(word_set("to be or not to be"))
    ['be', 'not', 'or', 'to']
    """
    return frozenset(text.split())


DAYS = word_set("monday tuesday wednesday thursday friday saturday sunday")
MONTHS = word_set(
    "january february march april may june july august september october november december jan feb mar apr jun jul "
    "aug sep sept oct nov dec"
)
COUNTRIES = word_set(
    "Afghanistan Algeria Argentina Australia Austria Bangladesh Belgium Bosnia Brazil Britain Bulgaria Cambodia "
    "Canada Chile China Colombia Croatia Cuba Cyprus Denmark Egypt England Ethiopia Finland France Germany Ghana "
    "Greece Hungary Iceland India Indonesia Iran Iraq Ireland Israel Italy Jamaica Japan Jordan Kenya Kuwait "
    "Lebanon Liberia Libya Malaysia Mexico Morocco Netherlands Nigeria Norway Pakistan Peru Philippines Poland "
    "Portugal Romania Russia Rwanda Scotland Singapore Slovakia Slovenia Somalia Spain Sudan Sweden Switzerland "
    "Syria Taiwan Tanzania Thailand Turkey Uganda Ukraine Uruguay Venezuela Vietnam Wales Yugoslavia Zaire Zambia "
    "Zimbabwe U.S. USA"
)
CITIES = word_set(
    "Amsterdam Athens Atlanta Baghdad Bangkok Beijing Belgrade Berlin Bonn Bosnia Boston Brussels Budapest Cairo "
    "Copenhagen Dallas Dublin Frankfurt Geneva Grozny Hamburg Helsinki Houston Istanbul Jakarta Jerusalem "
    "Johannesburg Karachi Kiev Lisbon London Madrid Manila Melbourne Miami Milan Montreal Moscow Munich Nairobi "
    "Oslo Paris Prague Rome Santiago Sarajevo Seoul Shanghai Stockholm Sydney Tehran Tokyo Toronto Vienna Warsaw "
    "Washington Zurich"
)
NATIONALITIES = word_set(
    "African American Arab Argentine Asian Australian Austrian Belgian Bosnian Brazilian British Bulgarian Canadian "
    "Chilean Chinese Colombian Croatian Cuban Czech Danish Dutch Egyptian English European Finnish French German "
    "Greek Hungarian Indian Indonesian Iranian Iraqi Irish Islamic Israeli Italian Japanese Jewish Jordanian Korean "
    "Kurdish Mexican Moslem Muslim Norwegian Pakistani Palestinian Polish Portuguese Romanian Russian Scottish Serb "
    "Serbian Slovak Spanish Swedish Swiss Syrian Thai Turkish Ukrainian Welsh Palestinians Serbs Iraqis Americans "
    "Germans"
)
FIRST_NAMES = word_set(
    "Alan Alexander Andrew Andrei Anna Anthony Barbara Ben Bill Bob Boris Brian Carl Carlos Charles Chris Christian "
    "Colin Craig Dan Daniel David Dennis Donald Edward Elena Eric Francisco Frank Gary George Graham Greg Hans "
    "Henry Ian Jack James Jan Jane Jean Jeff Jim Joe John Jonathan Jose Juan Kevin Larry Lee Luis Marc Marco Maria "
    "Mark Martin Mary Matthew Michael Mike Mohammed Nick Nicolas Oscar Patrick Paul Pedro Peter Philip Ray Richard "
    "Rick Robert Roger Ron Scott Sergei Simon Stephen Steve Steven Stuart Susan Terry Thomas Tim Todd Tom Tony "
    "Vladimir Walter William"
)
TITLES = word_set(
    "Mr Mrs Ms Dr Mr. Mrs. Ms. Dr. Sir President Prime Minister Chancellor Secretary General Senator Prince "
    "Princess Queen King Judge Captain Colonel Pope minister president spokesman spokeswoman chairman coach captain"
)
COMPANY_ENDINGS = word_set(
    "Inc Inc. Corp Corp. Ltd Ltd. Co Co. Plc PLC plc AG SA NV Group Holdings Bank Airlines Industries Association "
    "Ministry University Commission Council Committee Party Union Agency Department United City FC"
)
EVENTS = word_set("Cup Open Prix League Championship Championships Series Olympics Games Masters Tour War")

DETERMINERS = word_set("the a an this these those every each no some any another all both")
PREPOSITIONS = word_set(
    "of in for on with at by from about into through during after before between against under over without within "
    "along across behind beyond among around upon toward towards despite per via near since until"
)
CONJUNCTIONS = word_set("and or but nor & yet")
SUBORDINATORS = word_set("because although if while whether though unless whereas")
PERSONAL = word_set(
    "i you he she it we they me him us them myself himself herself itself themselves yourself ourselves"
)
POSSESSIVE = word_set("my your his its our their")
MODALS = word_set("will would can could may might must shall should ca wo 'll 'd")
BE = word_set("is are was were be been being am 's 're 'm")
HAVE = word_set("has have had having 've")
DO = word_set("do does did doing done")
NUMBERS = word_set(
    "one two three four five six seven eight nine ten eleven twelve twenty thirty forty fifty hundred thousand "
    "million billion"
)
ADVERBS = word_set(
    "not n't also very just only now then too so still even already here there again never always often well back "
    "soon however ago almost away ever perhaps maybe instead later yet quite rather today"
)
ADJECTIVES = word_set(
    "new other good great big small old many more last first next own same few such high low large long best little "
    "young major different able early important local public real sure free full right late real current recent"
)
VERBS = word_set(
    "said say says get got go going went know think want make made take took see saw come came use used find give "
    "gave tell told need try ask feel let put keep call work believe thank like look love hope provide pay"
)
NOUNS = word_set(
    "people time year years day days week month way man woman company government world country place thing things "
    "work home service food money car house room number part group state city business problem market percent "
    "president food life school family"
)
