package terms

import (
	"strings"
	"sync"
)

// irregular lists forms of one English word that the stemmer leaves apart: verbs,
// and a few nouns made from verbs.
const irregular = `begin began begun|bend bent|bind bound|bite bit bitten|blow blew blown|break broke broken|bring brought|build built|burn burnt|
buy bought|catch caught|choose chose chosen choice|come came|creep crept|dig dug|draw drew drawn|dream dreamt|drink drank drunk|drive drove driven|
eat ate eaten|fall fell fallen|feed fed|feel felt|fight fought|find found|flee fled|fly flew flown flight|forbid forbade forbidden|forget forgot forgotten|
forgive forgave forgiven|freeze froze frozen|get got gotten|give gave given gift|go went gone|grow grew grown growth|hang hung|hear heard|hide hid hidden|
hold held|keep kept|kneel knelt|know knew known knowledge|lay laid|lead led|lean leant|learn learnt|leave left|lend lent|lie lay lain|light lit|lose lost loss|
make made|mean meant|meet met|pay paid|prove proven proof|ride rode ridden|ring rang rung|rise rose risen|run ran|see saw seen|seek sought|sell sold sale|
send sent|sew sewn|shake shook shaken|shine shone|shoot shot|show shown|shrink shrank shrunk|sing sang sung song|sink sank sunk|sit sat|sleep slept|
slide slid|smell smelt|speak spoke spoken speech|spell spelt|spend spent|spin spun|spoil spoilt|stand stood|steal stole stolen theft|stick stuck|sting stung|
strike struck|swear swore sworn|sweep swept|swim swam swum|swing swung|take took taken|teach taught|tear tore torn|think thought|throw threw thrown|
understand understood|wake woke woken|wear wore worn|weave wove woven|weep wept|win won|wind wound|withdraw withdrew withdrawn withdrawal|write wrote written|
decide decision|advise advice|analyse analysis|analyze analysis|conclude conclusion|describe description|permit permission|admit admission|
produce product production|receive receipt reception|respond response|succeed success|apply application|expand expansion|extend extension|
depart departure|die dead death|live life|marry marriage|move motion|weigh weight|high height|long length|deep depth|
wide width|strong strength|hot heat|child children|man men|woman women|person people|foot feet|tooth teeth|goose geese|mouse mice|
leaf leaves|half halves|wife wives|knife knives|shelf shelves|good better best|bad worse worst|far further furthest`

// formsOf finds the other forms of a term.
var formsOf = sync.OnceValue(func() map[string][]string {
	m := map[string][]string{}
	for _, group := range strings.Split(irregular, "|") {
		var stems []string
		for _, w := range strings.Fields(group) {
			stems = append(stems, normalWord(w))
		}
		for _, s := range stems {
			for _, o := range stems {
				if o != s {
					m[s] = append(m[s], o)
				}
			}
		}
	}
	return m
})
