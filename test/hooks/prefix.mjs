// How much of each request was sent before, and whether hooks change what stood there: usage: prefix.mjs NAME WITHOUT WITH, files of requests, one JSON object a line. Of
// each turn ("Question N") the longest request counts: titles and the like are asked for beside it.
import fs from 'node:fs';

const bare = v => Array.isArray(v) ? v.map(bare) : v && typeof v === 'object'
	? Object.fromEntries(Object.entries(v).filter(([k]) => k !== 'cache_control').map(([k, w]) => [k, bare(w)])) : v;

// pieces returns a request in the order in which providers cache it.
function pieces(b) {
	const system = [b.system ?? b.instructions ?? b.systemInstruction ?? null].flat();
	return [...system, b.tools ?? null, ...[b.messages ?? b.input ?? b.contents ?? []].flat()].map(p => JSON.stringify(bare(p)));
}

function read(file) {
	const turns = new Map();
	for (const line of fs.readFileSync(file, 'utf8').split('\n').filter(Boolean)) {
		const {req} = JSON.parse(line);
		const asked = [...JSON.stringify(req).matchAll(/Question (\d+):/g)].map(m => +m[1]);
		if (!asked.length) continue;
		const turn = Math.max(...asked);
		if (!turns.has(turn) || JSON.stringify(turns.get(turn)).length < line.length) turns.set(turn, req);
	}
	const all = [...turns].sort((a, b) => a[0] - b[0]).map(t => pieces(t[1]));
	let kept = 0, sent = 0, text = 0;
	const breaks = [];
	let deepest = 0; // how many pieces before the end of a request the next one has others
	for (let i = 1; i < all.length; i++) {
		let same = 0, n = 0;
		while (n < all[i - 1].length && all[i - 1][n] === all[i][n]) same += all[i][n++].length;
		for (let k = 0; n < all[i - 1].length && k < all[i - 1][n].length && all[i - 1][n][k] === all[i][n]?.[k]; k++) same++;
		const whole = all[i - 1].reduce((sum, p) => sum + p.length, 0);
		if (n < all[i - 1].length) breaks.push(`${i + 1}@${n}/${all[i - 1].length}`);
		deepest = Math.max(deepest, all[i - 1].length - n);
		kept += same; sent += whole;
	}
	for (const p of all) text += p.reduce((sum, x) => sum + x.length, 0);
	return {turns: all.length, share: sent ? kept / sent : 0, breaks, deepest, bytes: text};
}

const [name, without, wired] = process.argv.slice(2);
const a = read(without), b = read(wired);
// Some agents change their newest message themselves; hooks may then add to that, and change nothing before it.
const worse = b.turns < a.turns || b.deepest > a.deepest || b.breaks.length > a.breaks.length;
console.log(`${worse ? 'FAIL' : 'ok  '} ${name}: ${a.turns} and ${b.turns} turns; sent before ${(100 * a.share).toFixed(1)} % without, ` +
	`${(100 * b.share).toFixed(1)} % with hooks; other beginnings ${a.breaks.length} and ${b.breaks.length}` +
	(worse ? ` (${b.breaks.slice(0, 8).join(' ')})` : '') + `; ${(100 * (b.bytes / a.bytes - 1)).toFixed(1)} % more bytes`);
process.exit(worse ? 1 : 0);
