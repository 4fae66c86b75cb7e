package tour

import "fmt"

var chinese = story{
	name: "zh", title: "潮位站 · 示例对话", date: "1月2日",
	instructions: "你协助港务办公室管理潮位站。水位以米为单位，保留三位小数。",
	stations:     []string{"3 旧码头", "5 轮渡码头", "7 北防波堤"},
	scenes: []func(*sampleWriter) (string, string){zhReadings, zhForecast, zhBerth, zhRepair, zhLetter, zhFit,
		zhLate, zhMeans, zhVisitor},
	decisions: [][2]string{
		{"请记下：验潮房的备用钥匙挂在水泵后面的绿色挂钩上。", "记下了：**备用钥匙**在水泵后面的绿色挂钩上。"},
		{"每个站的残差都要低于 2.5 厘米；有一个超出就马上告诉我。", "好的：每个站的上限是 **2.5 厘米**，第一次超出时我会立即报告。"},
		{"4 月 3 日的读数发了两遍。每小时保留第一组，删去第二组。", "4 月 3 日已处理：每小时保留第一组，去掉了 24 行。"},
		{"北防波堤的测量结果来了：螺栓比 2019 年的基准高 18.4 厘米。", "那么自 2019 年测量以来，7 号站的水位都低了 0.184 米。只改以后的报告，还是连过去的也改？"},
		{"7 号站今天改用新基准：从现在起每份报告都加 +0.184 米。过去的不动。", "从今天起，7 号站的每份报告都加 **+0.184 米**；以前的仍用 2019 年的基准。"},
		{"7 月有五天没有 7 号站的读数。不要补，拟合时跳过这些小时。", "拟合会跳过缺测的小时，不做插值。表里标出了空缺。"},
		{"报告在每月第一个星期一的九点以前发给办公室和引航员。", "每月第一个星期一 09:00 以前，发给办公室和引航员：记下了。"},
		{"北防波堤的浮子在 2.40 米以下会卡住。车间有一个备件，编号 F-2207。", "记下了：备件浮子 **F-2207**，7 号站，2.40 米以下会卡住。"},
		{"谁可以改基准？我记得说过只有何女士可以，而且要附测量报告。", "是的：只有何女士可以改基准，并附上测量报告。"},
	},
}

func zhReadings(t *sampleWriter) (string, string) {
	rows := ""
	for _, s := range t.stations {
		rows += fmt.Sprintf("| %s | %s | %s 厘米 |\n", s, t.randomLevel(), t.randomResidual())
	}
	return t.pickOne(t.formatToday()+"的读数。", "今天早上各站水位是多少？", "请给出"+t.formatToday()+"的水位。"),
		"| 站 | 水位（米） | 残差 |\n|---|---:|---:|\n" + rows + "\n" + t.pickOne("三个站都每十分钟报一次。", "没有异常。", "残差在正常范围内。")
}

func zhForecast(t *sampleWriter) (string, string) {
	w := t.randomFew(3, 8)
	return t.pickOne("今晚的预报如何？", "明天的风会有影响吗？", "会有增水吗？"),
		fmt.Sprintf("%s风 %d 到 %d 级。高潮约在 %02d:%02d，预计比潮汐表高 %.1f 米。", t.pickOne("西北", "西", "西南", "东"), w, w+1,
			t.randomFew(0, 23),
			t.randomFew(0, 59), 0.1*float64(t.randomFew(0, 6)))
}

func zhBerth(t *sampleWriter) (string, string) {
	n := t.randomFew(2, 14)
	return fmt.Sprintf("低潮时%s能停 %d 号泊位吗？", t.pickOne("挖泥船", "测量船", "渡轮", "引航艇", "驳船"), n),
		fmt.Sprintf("%d 号泊位%s低潮时水深 %.1f 米；吃水 %.1f 米的话%s。", n, t.pickOne("今天", "明天", "周五"), 3+0.1*float64(t.randomFew(0, 40)),
			2+0.1*float64(t.randomFew(0, 20)),
			t.pickOne("够用", "还有半米富余", "不够，要等两个小时"))
}

func zhRepair(t *sampleWriter) (string, string) {
	s := t.pickStation()
	return t.pickOne(s+"还有什么要做？", "上次是谁检查的"+s+"？", s+"该清洗了吗？"),
		fmt.Sprintf("%s：\n\n1. 冲洗静水井\n2. %s\n3. 与水尺对照 %d 次读数\n\n上次去是 %d 天前。", s, t.pickOne("换电池", "紧固卡箍", "检查电缆", "给铰链上油"),
			t.randomFew(5, 20), t.randomFew(3, 60))
}

func zhLetter(t *sampleWriter) (string, string) {
	return "给" + t.pickOne("引航协会", "测绘局", "帆船俱乐部", "主管部门") + "写两句话，说说" + t.pickOne("新的潮汐表", "关闭的泊位", "下周的来访", "数据的空缺") +
			"。",
		t.pickOne("各位好，", "早上好，") + t.pickOne("明年的潮汐表已经做好，随信寄上。", fmt.Sprintf("%d 号泊位关闭到本周末。", t.randomFew(2, 14))) +
			"如有不清楚的地方，请与港务办公室联系。"
}

func zhFit(t *sampleWriter) (string, string) {
	n := t.randomFew(4, 12)
	return fmt.Sprintf("用 %d 个分潮拟合时，怎么跳过缺测的小时？", n),
		"缺一个小时只会少一行：\n\n```go\nfor _, o := range obs {\n\tif o.Missing {\n\t\tcontinue\n\t}\n\trows = append(rows, design(o.Time, constituents))\n}\n```\n\n" +
			fmt.Sprintf("用 %d 个分潮时，最大残差是 %s 厘米。", n, t.randomResidual())
}

func zhLate(t *sampleWriter) (string, string) {
	h := t.randomFew(0, 20)
	return t.pickOne("昨晚哪些站报得晚？", "有迟到的数据吗？"), fmt.Sprintf("只有%s：%02d:10 到 %02d:10。读数成批补到，是完整的。", t.pickStation(), h, h+2)
}

func zhMeans(t *sampleWriter) (string, string) {
	return t.pickOne("上个月的平均值？", "这个月比起来怎么样？"),
		fmt.Sprintf("%s平均 %s 米，比去年%s %.1f 厘米。另外两个站没有变化。", t.pickStation(), t.randomLevel(), t.pickOne("高", "低"),
			0.1*float64(t.randomFew(1, 30)))
}

func zhVisitor(t *sampleWriter) (string, string) {
	return fmt.Sprintf("%s有 %d 个学生来参观，给他们看什么？", t.pickOne("周二", "周四", "周五"), t.randomFew(8, 30)),
		t.pickOne("先看静水井，再看上次大潮的曲线。", "码头上的铜牌，以及它为什么刻着旧基准。", "水尺、浮子和一天的读数。")
}
