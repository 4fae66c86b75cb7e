package i18n

// What the parser of the command line says of a line.
var (
	_ = note("unexpected-argument-meant", "unexpected argument %s, did you mean %s?", "多余的参数 %s，您是指 %s 吗？")
	_ = note("unexpected-argument", "unexpected argument %s", "多余的参数 %s")
	_ = note("unknown-command-meant", "unknown command %s, did you mean %s?", "未知的命令 %s，您是指 %s 吗？")
	_ = note("unknown-command", "unknown command %s", "未知的命令 %s")
	_ = note("unknown-flag-meant-one", "unknown flag %s, did you mean one of %s?", "未知的选项 %s，您是指以下之一吗：%s？")
	_ = note("unknown-flag-meant", "unknown flag %s, did you mean %s?", "未知的选项 %s，您是指 %s 吗？")
	_ = note("unknown-flag", "unknown flag %s", "未知的选项 %s")
	_ = note("missing-flags", "missing flags: %s", "缺少选项：%s")
	_ = note("expected-one-of", "expected one of %s", "应为以下之一：%s")
	_ = note("expected-argument", `expected "%s"`, "缺少 “%s”")
	_ = note("expected-int-but-got", "%s: expected a valid 64 bit int but got %s", "%s：应为整数，而不是 %s")
	_ = note("expected-uint-but-got", "%s: expected a valid 64 bit uint but got %s", "%s：应为非负整数，而不是 %s")
	_ = note("expected-but-got", "%s: expected %s but got %s", "%s：应为 %s，而不是 %s")
	_ = note("must-be-one-of", "%s must be one of %s but got %s", "%s 必须是 %s 之一，而不是 %s")
	_ = note("missing-value", "%s: missing value%s", "%s：缺少值%s")
	_ = note("missing-value-plain", "%s: missing value", "%s：缺少值")
)
