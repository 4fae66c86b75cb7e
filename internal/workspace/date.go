package workspace

import (
	"strings"
	"sync"
	"time"

	"github.com/go-playground/locales"
	"github.com/go-playground/locales/de"
	"github.com/go-playground/locales/en"
	"github.com/go-playground/locales/en_GB"
	"github.com/go-playground/locales/es"
	"github.com/go-playground/locales/fr"
	"github.com/go-playground/locales/it"
	"github.com/go-playground/locales/ja"
	"github.com/go-playground/locales/ko"
	"github.com/go-playground/locales/nl"
	"github.com/go-playground/locales/pl"
	"github.com/go-playground/locales/pt"
	"github.com/go-playground/locales/ru"
	"github.com/go-playground/locales/zh"
	"github.com/go-playground/locales/zh_Hant"
	"golang.org/x/text/language"
)

// calendars are the locales whose dates are written as there. The first is for every other:
// a locale that names no language, such as C, and a language that is not listed.
var calendars = []struct {
	tag language.Tag
	new func() locales.Translator
}{
	{language.BritishEnglish, en_GB.New}, {language.AmericanEnglish, en.New}, {language.German, de.New},
	{language.French, fr.New},
	{language.Spanish, es.New}, {language.Italian, it.New}, {language.Dutch, nl.New}, {language.Polish, pl.New},
	{language.Portuguese, pt.New}, {language.Russian, ru.New}, {language.Japanese, ja.New}, {language.Korean, ko.New},
	{language.SimplifiedChinese, zh.New}, {language.TraditionalChinese, zh_Hant.New},
}

var nearestCalendar = sync.OnceValue(func() language.Matcher {
	var tags []language.Tag
	for _, c := range calendars {
		tags = append(tags, c.tag)
	}
	return language.NewMatcher(tags)
})

// fullDate returns a day with its weekday, as a locale writes it: de_DE.UTF-8 and de-DE are one.
func fullDate(locale string, day time.Time) string {
	name, _, _ := strings.Cut(locale, "@")
	name, _, _ = strings.Cut(name, ".")
	i := 0
	if tag, err := language.Parse(name); err == nil {
		if _, at, sure := nearestCalendar().Match(tag); sure >= language.High {
			i = at
		}
	}
	return calendars[i].new().FmtDateFull(day)
}
