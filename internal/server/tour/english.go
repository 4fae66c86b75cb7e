package tour

import "fmt"

var english = story{
	name: "en", title: "Tide gauges · a sample", date: "2 January",
	instructions: "You help the harbour office with its tide gauges. Give levels in metres with three decimals.",
	stations:     []string{"3 Old quay", "5 Ferry pier", "7 North mole"},
	scenes: []func(*sampleWriter) (string, string){enReadings, enForecast, enBerth, enRepair, enLetter, enFit,
		enLate, enMeans, enVisitor},
	decisions: [][2]string{
		{"For the record: the spare key of the gauge hut hangs behind the pump, on the green hook.",
			"Noted: the **spare key** hangs behind the pump, on the green hook."},
		{"Please keep the residual under 2.5 cm at every station, and say so at once if one goes over.",
			"I will: **2.5 cm** is the limit at every station, and I report the first reading above it."},
		{"The readings of 3 April were sent twice. Keep the first set of each hour and drop the second.",
			"Done for 3 April: the first set of each hour stays, 24 rows were dropped."},
		{"The survey of the north mole is in: the bolt stands 18.4 cm higher than the datum of 2019 says.",
			"Then every level of station 7 is 0.184 m too low since the survey of 2019. Shall reports change from now on, or the past too?"},
		{"Station 7 moved to the new datum today: add +0.184 m from now on, in every report. Leave the past as it is.",
			"From today station 7 gets **+0.184 m** in every report; what came before keeps the datum of 2019."},
		{"There are no readings of station 7 for five days in July. Do not fill the gap: leave those hours out of the fit.",
			"The fit leaves the missing hours out; nothing is interpolated. The gap is marked in the table."},
		{"Reports go out on the first Monday of the month, before nine, to the office and to the pilots.",
			"First Monday, before 09:00, to the office and the pilots: noted."},
		{"The float at the north mole sticks below 2.40 m. The workshop has a replacement under the number F-2207.",
			"I have written it down: replacement float **F-2207**, station 7, sticks below 2.40 m."},
		{"Who is allowed to change a datum? I think we said only Ms Harlow, with the survey attached.",
			"Yes: only Ms Harlow changes a datum, and the survey goes with it."},
	},
}

func enReadings(t *sampleWriter) (string, string) {
	rows := ""
	for _, s := range t.stations {
		rows += fmt.Sprintf("| %s | %s | %s cm |\n", s, t.randomLevel(), t.randomResidual())
	}
	return t.pickOne("Readings for "+t.formatToday()+", please.", "What do the gauges say this morning?",
			"The levels of "+t.formatToday()+"?"),
		"| Station | Level (m) | Residual |\n|---|---:|---:|\n" + rows + "\n" +
			t.pickOne("All three report every ten minutes.", "Nothing unusual.", "The residuals are within the usual range.")
}

func enForecast(t *sampleWriter) (string, string) {
	w := t.randomFew(3, 8)
	return t.pickOne("What is the forecast for tonight?", "Will the wind bother us tomorrow?", "Any surge to expect?"),
		fmt.Sprintf("Wind from the %s, %d to %d. I expect %.1f m above the table at high water, around %02d:%02d.",
			t.pickOne("north-west", "west", "south-west", "east"), w, w+1, 0.1*float64(t.randomFew(0, 6)), t.randomFew(0, 23),
			t.randomFew(0, 59))
}

func enBerth(t *sampleWriter) (string, string) {
	n := t.randomFew(2, 14)
	return fmt.Sprintf("Can the %s lie at berth %d at low water?",
			t.pickOne("dredger", "survey boat", "ferry", "pilot cutter", "barge"), n),
		fmt.Sprintf("Berth %d has %.1f m at low water %s; with %.1f m of draught there is %s.", n,
			3+0.1*float64(t.randomFew(0, 40)),
			t.pickOne("today", "tomorrow", "on Friday"), 2+0.1*float64(t.randomFew(0, 20)),
			t.pickOne("enough room", "half a metre to spare", "too little: wait two hours"))
}

func enRepair(t *sampleWriter) (string, string) {
	s := t.pickStation()
	return t.pickOne("What is left to do at "+s+"?", "Who last looked at "+s+"?", "Is "+s+" due for cleaning?"),
		fmt.Sprintf("At %s:\n\n1. rinse the stilling well\n2. %s\n3. compare %d readings with the staff\n\nThe last visit was %d days ago.", s,
			t.pickOne("change the battery", "tighten the clamp", "look at the cable", "grease the hinge"), t.randomFew(5, 20),
			t.randomFew(3, 60))
}

func enLetter(t *sampleWriter) (string, string) {
	who := t.pickOne("the pilots’ association", "the survey office", "the yacht club", "the ministry")
	return "Draft two sentences to " + who + " about " +
			t.pickOne("the new tables", "the closed berth", "the visit next week", "the gap in the series") + ".",
		t.pickOne("Dear all, ", "Good morning, ") +
			t.pickOne("the tables for next year are ready, and we are glad to send them.",
				"berth "+fmt.Sprint(t.randomFew(2, 14))+" stays closed until the end of the week.") +
			" Please write to the harbour office if anything is unclear."
}

func enFit(t *sampleWriter) (string, string) {
	n := t.randomFew(4, 12)
	return fmt.Sprintf("How does the fit with %d constituents skip missing hours?", n),
		"A missing hour only removes a row:\n\n```go\nfor _, o := range obs {\n\tif o.Missing {\n\t\tcontinue\n\t}\n\trows = append(rows, design(o.Time, constituents))\n}\n```\n\n" +
			fmt.Sprintf("With %d constituents the largest residual is %s cm.", n, t.randomResidual())
}

func enLate(t *sampleWriter) (string, string) {
	h := t.randomFew(0, 20)
	return t.pickOne("Which stations reported late last night?", "Did anything arrive late?"),
		fmt.Sprintf("Only %s: from %02d:10 to %02d:10. The readings came in one batch and are complete.", t.pickStation(), h,
			h+2)
}

func enMeans(t *sampleWriter) (string, string) {
	return t.pickOne("The means of last month?", "How does this month compare?"),
		fmt.Sprintf("%s m at %s, %.1f cm %s than a year ago. The other two are unchanged.", t.randomLevel(), t.pickStation(),
			0.1*float64(t.randomFew(1, 30)), t.pickOne("higher", "lower"))
}

func enVisitor(t *sampleWriter) (string, string) {
	return fmt.Sprintf("A class of %d comes on %s. What do we show them?", t.randomFew(8, 30),
			t.pickOne("Tuesday", "Thursday", "Friday")),
		t.pickOne("The stilling well, then the plot of the last spring tide.",
			"The brass plate on the quay and why it shows the old datum.", "The staff, the float and one day of readings.")
}
