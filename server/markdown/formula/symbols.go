package formula

import "strings"

// pairs reads a table of names and what they stand for.
func pairs(table string) map[string]string {
	fields := strings.Fields(table)
	out := make(map[string]string, len(fields)/2)
	for i := 0; i+1 < len(fields); i += 2 {
		out[fields[i]] = fields[i+1]
	}
	return out
}

// letters are commands that stand for a letter or another ordinary sign.
var letters = pairs(`
alpha α beta β gamma γ delta δ epsilon ϵ varepsilon ε zeta ζ eta η theta θ vartheta ϑ iota ι kappa κ varkappa ϰ lambda λ mu μ nu ν
xi ξ omicron ο pi π varpi ϖ rho ρ varrho ϱ sigma σ varsigma ς tau τ upsilon υ phi ϕ varphi φ chi χ psi ψ omega ω digamma ϝ
ell ℓ hbar ℏ hslash ℏ imath ı jmath ȷ wp ℘ partial ∂ eth ð`)

// uprights are letters that stand upright, and signs that do.
var uprights = pairs(`
Gamma Γ Delta Δ Theta Θ Lambda Λ Xi Ξ Pi Π Sigma Σ Upsilon Υ Phi Φ Psi Ψ Omega Ω Re ℜ Im ℑ aleph ℵ beth ℶ gimel ℷ daleth ℸ
infty ∞ nabla ∇ emptyset ∅ varnothing ∅ angle ∠ measuredangle ∡ sphericalangle ∢ top ⊤ bot ⊥ square □ Box □ blacksquare ■ diamond ⋄
Diamond ◇ lozenge ◊ bigstar ★ star ⋆ triangle △ blacktriangle ▲ triangledown ▽ clubsuit ♣ diamondsuit ♢ heartsuit ♡ spadesuit ♠
flat ♭ natural ♮ sharp ♯ degree ° checkmark ✓ maltese ✠ dagger † ddagger ‡ S § P ¶ pounds £ euro € yen ¥ copyright © circledR ®
prime ′ backprime ‵ complement ∁ mho ℧ Bbbk 𝕜 forall ∀ exists ∃ nexists ∄ ldots … dotsc … dotso … vdots ⋮ ddots ⋱ % % # # & & _ _
$ $ AA Å surd √ Finv Ⅎ`)

// operators are commands that stand for an operator, a relation or an arrow.
var operators = pairs(`
pm ± mp ∓ times × div ÷ cdot ⋅ cdotp · ast ∗ circ ∘ bullet ∙ oplus ⊕ ominus ⊖ otimes ⊗ oslash ⊘ odot ⊙ cap ∩ cup ∪ uplus ⊎
sqcap ⊓ sqcup ⊔ vee ∨ lor ∨ wedge ∧ land ∧ setminus ∖ smallsetminus ∖ wr ≀ amalg ⨿ bigtriangleup △ bigtriangledown ▽
triangleleft ◁ triangleright ▷ lhd ⊲ rhd ⊳ ltimes ⋉ rtimes ⋊ boxplus ⊞ boxminus ⊟ boxtimes ⊠ boxdot ⊡ barwedge ⊼ veebar ⊻
neg ¬ lnot ¬ leq ≤ le ≤ geq ≥ ge ≥ leqslant ⩽ geqslant ⩾ neq ≠ ne ≠ equiv ≡ sim ∼ simeq ≃ approx ≈ approxeq ≊ cong ≅ ll ≪ gg ≫
lll ⋘ ggg ⋙ prec ≺ succ ≻ preceq ⪯ succeq ⪰ propto ∝ varpropto ∝ asymp ≍ doteq ≐ triangleq ≜ coloneqq ≔ colon : eqqcolon ≕ in ∈
notin ∉ ni ∋ owns ∋ subset ⊂ supset ⊃ subseteq ⊆ supseteq ⊇ subsetneq ⊊ supsetneq ⊋ sqsubseteq ⊑ sqsupseteq ⊒ sqsubset ⊏ sqsupset ⊐
parallel ∥ nparallel ∦ perp ⊥ mid ∣ nmid ∤ vdash ⊢ dashv ⊣ models ⊨ vDash ⊨ Vdash ⊩ bowtie ⋈ smile ⌣ frown ⌢ therefore ∴ because ∵
lesssim ≲ gtrsim ≳ lessgtr ≶ gtrless ≷ nless ≮ ngtr ≯ nleq ≰ ngeq ≱ nsim ≁ ncong ≇ nsubseteq ⊈ nsupseteq ⊉ between ≬ pitchfork ⋔
to → rightarrow → gets ← leftarrow ← leftrightarrow ↔ uparrow ↑ downarrow ↓ updownarrow ↕ Rightarrow ⇒ Leftarrow ⇐ Leftrightarrow ⇔
Uparrow ⇑ Downarrow ⇓ Updownarrow ⇕ longrightarrow ⟶ longleftarrow ⟵ longleftrightarrow ⟷ Longrightarrow ⟹ Longleftarrow ⟸
Longleftrightarrow ⟺ implies ⟹ impliedby ⟸ iff ⟺ mapsto ↦ longmapsto ⟼ hookrightarrow ↪ hookleftarrow ↩ rightharpoonup ⇀
rightharpoondown ⇁ leftharpoonup ↼ leftharpoondown ↽ rightleftharpoons ⇌ leftrightharpoons ⇋ nearrow ↗ searrow ↘ swarrow ↙ nwarrow ↖
rightsquigarrow ⇝ leadsto ⇝ twoheadrightarrow ↠ rightrightarrows ⇉ leftleftarrows ⇇ nrightarrow ↛ nleftarrow ↚ nRightarrow ⇏
circlearrowleft ↺ circlearrowright ↻ curvearrowright ↷ upharpoonright ↾ restriction ↾ cdots ⋯ dots … dotsb ⋯ dotsm ⋯ dotsi ⋯
vartriangle △ blacktriangleright ▸ trianglelefteq ⊴ trianglerighteq ⊵ ulcorner ⌜ urcorner ⌝ llcorner ⌞ lrcorner ⌟`)

// spreads are signs with limits above and below; integrals have theirs beside them.
var spreads = pairs(`sum ∑ prod ∏ coprod ∐ bigcup ⋃ bigcap ⋂ bigvee ⋁ bigwedge ⋀ bigoplus ⨁ bigotimes ⨂ bigodot ⨀ biguplus ⨄ bigsqcup ⨆`)

var integrals = pairs(`int ∫ iint ∬ iiint ∭ iiiint ⨌ oint ∮ oiint ∯ oiiint ∰ intop ∫ smallint ∫`)

// functions are names that are set upright; true are those with limits below.
var functions = func() map[string]bool {
	out := map[string]bool{}
	for _, n := range strings.Fields(`arccos arcsin arctan arg cos cosh cot coth csc deg dim exp hom ker lg ln log sec sin sinh tan tanh
		arcctg arctg ctg cth sh ch th tg sgn erf rank tr diag`) {
		out[n] = false
	}
	for _, n := range strings.Fields(`lim limsup liminf max min sup inf det gcd Pr argmax argmin injlim projlim plim`) {
		out[n] = true
	}
	return out
}()

// delimiters are what \left, \right and \big may stand before, beside signs of one character.
var delimiters = pairs(`
langle ⟨ rangle ⟩ lvert | rvert | lVert ‖ rVert ‖ vert | Vert ‖ | ‖ lfloor ⌊ rfloor ⌋ lceil ⌈ rceil ⌉ { { } } lbrace { rbrace } lbrack [
rbrack ] lgroup ⟮ rgroup ⟯ lmoustache ⎰ rmoustache ⎱ backslash \ uparrow ↑ downarrow ↓ updownarrow ↕ Uparrow ⇑ Downarrow ⇓ lparen ( rparen )
ulcorner ⌜ urcorner ⌝ llcorner ⌞ lrcorner ⌟`)

// accents stand over a letter; wide ones over all of it, and some below.
var accents = pairs(`hat ^ widehat ^ bar ¯ overline ¯ vec → dot ˙ ddot ¨ dddot ⃛ tilde ~ widetilde ~ check ˇ breve ˘ acute ´ grave ` + "`" + ` mathring ˚
overrightarrow → overleftarrow ← overleftrightarrow ↔ overbrace ⏞ overparen ⏜ overgroup ⏠`)

var belows = pairs(`underline _ underbrace ⏟ underrightarrow → underleftarrow ← underparen ⏝ underbar _`)

// widths are commands for space.
var widths = pairs(`, 0.1667em : 0.2222em > 0.2222em ; 0.2778em ! -0.1667em quad 1em qquad 2em enspace 0.5em enskip 0.5em thinspace 0.1667em
medspace 0.2222em thickspace 0.2778em negthinspace -0.1667em nobreakspace 0.3333em space 0.3333em`)

// nots are relations that have a sign of their own when they are struck out.
var nots = pairs(`= ≠ < ≮ > ≯ in ∉ ni ∌ subset ⊄ supset ⊅ subseteq ⊈ supseteq ⊉ equiv ≢ sim ≁ simeq ≄ approx ≉ cong ≇ leq ≰ le ≰ geq ≱ ge ≱
exists ∄ mid ∤ parallel ∦ perp ⊥̸ to ↛ rightarrow ↛ leftarrow ↚ Rightarrow ⇏ Leftarrow ⇍ Leftrightarrow ⇎ prec ⊀ succ ⊁ vdash ⊬ models ⊭`)

// ignored leave no trace, and take nothing.
var ignored = pairs(`nonumber - notag - hfill - strut - relax - allowbreak - nobreak - noindent - hline - displaylimits -
scriptscriptstyle - small - normalsize - large - centering - boldmath - unboldmath - protect -`)
