package offline

import (
	"context"
	"hash/fnv"
	"strings"
	"sync"

	"github.com/scrollback-ai/scrollback/internal/terms"
	"github.com/scrollback-ai/scrollback/model"
)

var _ model.Embedder = (*Model)(nil)

// embedDimension is how many numbers its vectors have.
const embedDimension = 512

// placesEach is in how many of them a word is counted, so that two words seldom share all.
const placesEach = 4

// What a word counts for in a vector, one that only joins others, and what several words stand for.
const (
	wordShare    = 1
	joinShare    = 0.1
	meaningShare = 1.5
)

// alike are words for the same thing, a line each: a stand-in for what a model of embeddings knows, which is enough to
// show and to test what such a model is for. Chinese words have two characters, which are one term.
const alike = `
doctor physician medic 医生 大夫
car automobile vehicle 汽车 轿车
child kid toddler 孩子 小孩
house home apartment flat 房子 公寓
job occupation profession work 工作 职业
buy purchase acquire 购买 买下
trip journey travel vacation holiday 旅行 旅游
movie film cinema 电影 影片
food meal dish cuisine 食物 饭菜
spouse wife husband partner 妻子 丈夫
money cash funds 金钱 资金
street road avenue 街道 马路
boss manager supervisor 老板 上司
allergy allergic intolerance 过敏 不耐
dog puppy hound 小狗 犬只
cat kitten feline 小猫 猫咪
pain ache hurt 疼痛 酸痛
angry furious mad 生气 愤怒
happy glad delighted 高兴 开心
fast quick rapid 快速 迅速
begin start commence 开始 启动
end finish conclude 结束 完成
error fault bug 错误 故障
password passphrase credential 密码 口令
computer laptop machine 电脑 主机
meeting appointment 会议 会面
lawyer attorney solicitor 律师 法务
teacher instructor tutor 老师 教师
exercise workout training 锻炼 健身
store shop market 商店 店铺
gift present 礼物 赠品
illness disease sickness 疾病 病症
river stream creek 河流 小溪
garden yard 花园 院子
bicycle bike 单车 脚踏
price cost fee 价格 费用
birthday anniversary 生日 周年
`

// meanings are the numbers of the lines of alike by the terms of their words.
var meanings = sync.OnceValue(func() map[string]int {
	out := map[string]int{}
	n := 0
	for line := range strings.Lines(alike) {
		for _, word := range strings.Fields(line) {
			out[terms.SplitTerms(word)[0]] = n
		}
		n++
	}
	return out
})

// EmbedTexts implements model.Embedder: words that are the same, or that a small table says mean the same, bring
// vectors together. It knows nothing of language; texts and vectors stay on this machine.
func (m *Model) EmbedTexts(ctx context.Context, texts []string) (model.Embeddings, error) {
	var out model.Embeddings
	for _, text := range texts {
		if ctx.Err() != nil {
			return model.Embeddings{}, checkContext(ctx)
		}
		out.Vectors = append(out.Vectors, embedText(text))
		out.InputTokens += toTokens(weighText(text))
	}
	return out, nil
}

// embedText returns the vector of a text. One without a word has one all the same.
func embedText(text string) []float32 {
	v := make([]float32, embedDimension)
	add := func(what string, share float32) {
		h := fnv.New64a()
		h.Write([]byte(what))
		n := h.Sum64()
		for range placesEach {
			n = n*6364136223846793005 + 1442695040888963407
			if at := n >> 33; at&1 != 0 {
				v[at/2%embedDimension] -= share
			} else {
				v[at/2%embedDimension] += share
			}
		}
	}
	terms.EachTerm(text, func(term string) bool {
		share := float32(wordShare)
		if stopWords()[term] || hasGlue(term) || isLoneCharacter(term) {
			share = joinShare
		}
		add(term, share)
		if n, ok := meanings()[term]; ok {
			add("meaning "+string(rune('0'+n)), meaningShare)
		}
		return true
	})
	add("", joinShare)
	return v
}
