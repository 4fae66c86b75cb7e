package spec

import (
	"reflect"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/scrollback-ai/scrollback"
)

// enums are the values of texts that are one of a few.
var enums = map[reflect.Type][]any{
	reflect.TypeFor[scrollback.Role](): {scrollback.RoleSystem, scrollback.RoleUser, scrollback.RoleAssistant,
		scrollback.RoleTool},
	reflect.TypeFor[scrollback.Status](): {scrollback.StatusComplete, scrollback.StatusInterrupted,
		scrollback.StatusFailed},
	reflect.TypeFor[scrollback.TurnState](): {scrollback.TurnOpen, scrollback.TurnWaiting, scrollback.TurnComplete,
		scrollback.TurnInterrupted, scrollback.TurnFailed, scrollback.TurnOverBudget},
	reflect.TypeFor[scrollback.ChangeType](): {scrollback.ChangeConversation, scrollback.ChangeMessage,
		scrollback.ChangeTurn,
		scrollback.ChangeCompaction, scrollback.ChangeTrash, scrollback.ChangeReset},
	reflect.TypeFor[scrollback.CompactionResult](): {scrollback.ResultCompacted, scrollback.ResultNoop,
		scrollback.ResultInflated,
		scrollback.ResultEmptySummary, scrollback.ResultModelError, scrollback.ResultConflict},
	reflect.TypeFor[scrollback.Code](): {scrollback.Invalid, scrollback.NotFound, scrollback.Conflict,
		scrollback.OverBudget,
		scrollback.Refused, scrollback.RateLimited, scrollback.Unavailable, scrollback.Canceled, scrollback.Internal},
	reflect.TypeFor[scrollback.Advice](): {scrollback.AdviceSetKey, scrollback.AdviceCheckKey, scrollback.AdviceTopUp,
		scrollback.AdviceCheckAddress, scrollback.AdviceChooseModel, scrollback.AdviceRaiseLimit, scrollback.AdviceRephrase,
		scrollback.AdviceWait, scrollback.AdviceRetry, scrollback.AdviceLeaveOut},
	reflect.TypeFor[scrollback.LimitFrom](): {scrollback.LimitRequest, scrollback.LimitConversation,
		scrollback.LimitProject, scrollback.LimitFlag,
		scrollback.LimitConfig, scrollback.LimitList, scrollback.LimitRefusal, scrollback.LimitCatalog,
		scrollback.LimitAssumed},
	reflect.TypeFor[scrollback.Layer](): {scrollback.LayerInstructions, scrollback.LayerEnvironment,
		scrollback.LayerSummary,
		scrollback.LayerPlaceholders, scrollback.LayerMessages, scrollback.LayerPrompt, scrollback.LayerRequestOnly},
	reflect.TypeFor[scrollback.ItemKind](): {scrollback.KindInstructions, scrollback.KindTools, scrollback.KindEnvironment,
		scrollback.KindFolded, scrollback.KindSummary, scrollback.KindPlaceholder, scrollback.KindAck, scrollback.KindMessage,
		scrollback.KindRepair, scrollback.KindRequestOnly, scrollback.KindPin},
	reflect.TypeFor[scrollback.ReferenceKind](): {scrollback.ReferenceFile, scrollback.ReferenceFolder,
		scrollback.ReferenceImage,
		scrollback.ReferenceTool},
	reflect.TypeFor[scrollback.KeptKind](): {scrollback.KeptTrait, scrollback.KeptInstruction, scrollback.KeptTodo},
	reflect.TypeFor[scrollback.KeptState](): {scrollback.KeptOpen, scrollback.KeptDone, scrollback.KeptWithdrawn,
		scrollback.KeptDropped},
	reflect.TypeFor[scrollback.KeptBy]():     {scrollback.KeptByRule, scrollback.KeptByPerson},
	reflect.TypeFor[scrollback.Strictness](): {scrollback.StrictTurns, scrollback.StrictNoSystem},
}

// annotateSchema says in the schema of a Go type what the library cannot know of it: values,
// the union of parts, that lists are never null, and that what cannot be told is anything.
func annotateSchema(r huma.Registry, t reflect.Type, s *huma.Schema) {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch {
	case s.Ref != "":
	case t == reflect.TypeFor[scrollback.Parts]():
		s.Nullable = false
		s.Items = &huma.Schema{Ref: schemaPrefix + "Part"}
	case enums[t] != nil:
		r.Map()[t.Name()] = &huma.Schema{Type: huma.TypeString, Enum: enums[t]}
		if !s.Nullable { // a reference cannot be null
			*s = huma.Schema{Ref: schemaPrefix + t.Name(), Description: s.Description}
		}
	case t.Kind() == reflect.Slice && s.Items != nil, t.Kind() == reflect.Array && s.Items != nil:
		s.Nullable = false
		annotateSchema(r, t.Elem(), s.Items)
	case t.Kind() == reflect.Map:
		if of, ok := s.AdditionalProperties.(*huma.Schema); ok {
			annotateSchema(r, t.Elem(), of)
		}
	case t.Kind() == reflect.Struct && s.Type == huma.TypeObject:
		for _, f := range reflect.VisibleFields(t) {
			name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			if of := s.Properties[name]; of != nil {
				annotateSchema(r, f.Type, of)
				s.Properties[name] = nullable(f, of)
			}
		}
	}
}

// nullable returns the schema of a field that is null when there is nothing, which a reference
// alone cannot say.
func nullable(f reflect.StructField, s *huma.Schema) *huma.Schema {
	if s.Ref == "" || f.Type.Kind() != reflect.Pointer || strings.Contains(f.Tag.Get("json"), "omit") {
		return s
	}
	return &huma.Schema{OneOf: []*huma.Schema{{Ref: s.Ref}, {Type: "null"}}}
}
