package anthropic

import (
	"strconv"
	"strings"

	"github.com/scrollback-ai/scrollback/internal/lazyregexp"
)

// thinkingForm is how a model is asked to think.
type thinkingForm string

const (
	cannot   thinkingForm = ""         // it does not think
	manual   thinkingForm = "enabled"  // with a budget in tokens
	adaptive thinkingForm = "adaptive" // as it sees fit, with an effort
)

// modelHabit is what is known about a model by its name.
type modelHabit struct {
	form    thinkingForm
	always  bool     // its thinking cannot be turned off
	bound   bool     // its thinking is refused once what stood before it has changed
	efforts []string // that it knows
}

// habits is the table of models: the first row whose family is that of the model,
// or any, and whose first version is not above the model's.
var habits = []struct {
	families string
	since    version10
	habit    modelHabit
}{
	{"fable mythos", 51, modelHabit{adaptive, true, true, []string{"low", "medium", "high", "xhigh", "max"}}},
	{"fable mythos", 0, modelHabit{adaptive, true, false, []string{"low", "medium", "high", "xhigh", "max"}}},
	{"opus sonnet", 55, modelHabit{adaptive, true, true, []string{"low", "medium", "high", "xhigh", "max"}}},
	{"", 47, modelHabit{adaptive, false, false, []string{"low", "medium", "high", "xhigh", "max"}}},
	{"", 46, modelHabit{adaptive, false, false, []string{"low", "medium", "high", "max"}}},
	{"", 37, modelHabit{form: manual}},
	{"", 0, modelHabit{form: cannot}},
}

// version10 is a version times ten: 46 is 4.6.
type version10 int

var (
	newName = lazyregexp.New(`(opus|sonnet|haiku|fable|mythos)-(\d{1,2})(?:-(\d))?(?:\D|$)`)
	oldName = lazyregexp.New(`claude-(\d)(?:-(\d))?-(opus|sonnet|haiku)`)
)

// findHabit returns the habit of a model. One of unknown version is taken for a new one; a model
// that is not Claude is served by somebody who speaks the older protocol.
func findHabit(id string) modelHabit {
	name := strings.NewReplacer(".", "-", "_", "-", "@", "-").Replace(strings.ToLower(id))
	var family, major, minor string
	if m := oldName().FindStringSubmatch(name); m != nil {
		major = m[1]
		minor = m[2]
		family = m[3]
	} else if m := newName().FindStringSubmatch(name); m != nil {
		family = m[1]
		major = m[2]
		minor = m[3]
	} else if strings.Contains(name, "mythos") || strings.Contains(name, "fable") {
		return habits[0].habit
	} else if strings.Contains(name, "claude-2") || strings.Contains(name, "claude-instant") {
		return modelHabit{form: cannot}
	} else if strings.Contains(name, "claude") {
		return modelHabit{adaptive, false, false, []string{"low", "medium", "high"}}
	} else {
		return modelHabit{form: manual}
	}
	at := version10(10*countDigits(major) + countDigits(minor))
	for _, row := range habits {
		if at >= row.since && (row.families == "" || strings.Contains(row.families, family)) {
			return row.habit
		}
	}
	return modelHabit{}
}

func countDigits(s string) int {
	n, err := strconv.Atoi(s)
	if err != nil {
		return 0
	}
	return n
}
