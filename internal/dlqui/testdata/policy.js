// What the policy of the page forbids.
(async () => { const out = [];
	const e = document.createElement("script"); e.textContent = "window.inline = 1"; document.body.append(e);
	if (window.inline) out.push("inline script");
	const d = document.createElement("div"); d.innerHTML = "<p style='color: red' onclick='window.handled = 1'>x</p>"; document.body.append(d);
	d.firstChild.click(); if (window.handled) out.push("handler");
	if (getComputedStyle(d.firstChild).color == "rgb(255, 0, 0)") out.push("inline style");
	try { await fetch("https://example.com/"); out.push("request outside"); } catch {}
	if (document.cookie) out.push("cookie " + document.cookie);
	return out; })()
