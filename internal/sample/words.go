package sample

var (
	words = []string{"report", "server", "index", "budget", "pipeline", "schema", "queue", "ledger", "cache", "branch",
		"invoice", "sensor", "draft", "harbour", "garden", "engine", "window", "summary", "market", "bridge"}
	verbs = []string{"counts", "returned", "moved", "weighs", "measured", "stored", "lost", "printed", "planned",
		"opened"}
	places  = []string{"depot", "station", "library", "workshop", "archive", "harbour", "clinic"}
	colours = []string{"blue", "crimson", "amber", "violet", "silver", "olive", "scarlet", "ivory", "copper", "indigo",
		"jade"}
	animals   = []string{"heron", "badger", "falcon", "otter", "lynx", "marmot", "osprey"}
	tools     = []string{"read_file", "run_tests", "list_dir", "fetch_page"}
	acks      = []string{"Noted.", "Understood, I will keep that.", "好的，我记住了。", "明白。"}
	pictures  = []string{"Here is the chart from this morning.", "这是今天早上的图表。", "The screenshot of the page."}
	zhWords   = []string{"报告", "服务器", "索引", "预算", "流水线", "数据表", "队列", "账本", "缓存", "分支", "发票", "传感器", "草稿", "港口", "花园"}
	zhVerbs   = []string{"运行", "返回", "移动", "测量", "保存", "打印", "计划", "打开"}
	zhPlaces  = []string{"仓库", "车站", "图书馆", "车间", "档案室", "码头", "诊所"}
	zhColors  = []string{"蓝色", "深红", "琥珀", "紫色", "银色", "橄榄", "猩红", "象牙", "铜色", "靛蓝", "翡翠"}
	zhAnimals = []string{"苍鹭", "獾熊", "猎鹰", "水獭", "猞猁", "旱獭", "鱼鹰"}
)
