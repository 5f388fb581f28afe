// What a page of another origin tries with the page of dead letters.
(async () => {
	const base = BASE, out = [];
	for (const mode of ["cors", "no-cors"]) for (const credentials of ["include", "omit"]) {
		try { const r = await fetch(base + "/q/orders-dead", {mode, credentials});
			const text = await r.text(); if (text || r.status) out.push("read: " + r.status + text.slice(0, 50)); } catch {}
		try { await fetch(base + "/q/orders-dead/archive", {method: "POST", mode, credentials,
			headers: {"Content-Type": "application/x-www-form-urlencoded"}, body: "csrf=" + CSRF + "&selection=x"}); } catch {}
	}
	await new Promise(done => { const e = document.createElement("script"); e.src = base + "/static/htmx-2.0.11.min.js";
		e.onload = () => { out.push("script loaded"); done(); }; e.onerror = done; document.body.append(e); });
	await new Promise(done => { const e = document.createElement("img"); e.src = base + "/static/icon.svg";
		e.onload = () => { out.push("image loaded"); done(); }; e.onerror = done; document.body.append(e); });
	await new Promise(done => { const e = document.createElement("iframe"); e.src = base + "/";
		e.onload = () => { try { if (e.contentDocument.body.innerText) out.push("frame read"); } catch {} done(); }; document.body.append(e); });
	if (typeof htmx != "undefined") out.push("script ran");
	return out; })()
