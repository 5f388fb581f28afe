// What people with a screen reader, a phone, or weak eyes would stumble over.
(() => {
	const found = [], all = q => [...document.querySelectorAll(q)];
	all("details").forEach(e => e.open = true);
	const h1 = all("h1"); if (h1.length != 1) found.push(h1.length + " h1");
	if (!document.documentElement.lang || !document.title) found.push("no language or title");
	let last = 0;
	for (const h of all("h1,h2,h3")) { const n = +h.tagName[1]; if (n > last + 1) found.push("h" + n + " after h" + last); last = n; }
	for (const e of all("input:not([type=hidden]),textarea,progress,select"))
		if (!(e.labels && e.labels.length) && !e.getAttribute("aria-label")) found.push("no label: " + e.outerHTML);
	for (const e of all("a,button")) if (!(e.innerText || e.getAttribute("aria-label") || "").trim()) found.push("no name: " + e.outerHTML);
	for (const e of all("[tabindex]")) if (+e.getAttribute("tabindex") > 0) found.push("order of focus: " + e.outerHTML);
	const ids = all("[id]").map(e => e.id); for (const i of new Set(ids)) if (ids.filter(x => x == i).length > 1) found.push("id twice: " + i);
	for (const e of all("[aria-labelledby],[aria-describedby]")) for (const i of (e.getAttribute("aria-labelledby") || e.getAttribute("aria-describedby")).split(" "))
		if (!document.getElementById(i)) found.push("no element " + i);
	for (const q of ["main", "header", "nav"]) if (!document.querySelector(q)) found.push("no " + q);
	if (document.documentElement.scrollWidth > innerWidth) found.push("scrolls sideways: " + document.documentElement.scrollWidth);
	for (const e of all("a.button,button,input:not([type=hidden])")) { const r = e.getBoundingClientRect();
		if (r.height && r.height < 22) found.push("small target: " + e.outerHTML); }
	const parse = c => (c.match(/[\d.]+/g) || []).map(Number);
	const light = c => { const [r, g, b] = c.slice(0, 3).map(v => { v /= 255; return v <= .03928 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4; });
		return .2126 * r + .7152 * g + .0722 * b; };
	const ground = e => { for (; e; e = e.parentElement) { const c = parse(getComputedStyle(e).backgroundColor); if (c.length < 4 || c[3] > 0) return c; } return [255, 255, 255]; };
	for (const e of all("body *")) {
		if (e.closest("svg,.skip,.unseen") || ![...e.childNodes].some(n => n.nodeType == 3 && n.data.trim())) continue;
		const a = light(parse(getComputedStyle(e).color)), b = light(ground(e)), ratio = (Math.max(a, b) + .05) / (Math.min(a, b) + .05);
		if (ratio < 4.5) found.push("contrast " + ratio.toFixed(1) + ": " + e.outerHTML.slice(0, 120));
	}
	return found; })()
