import { assert, describe, it } from "vitest"
import { sameAsNode } from "./compare.ts"
import { Guest } from "./Guest.ts"

describe("Headers", () => {
  sameAsNode({
    "are made of pairs, records and headers": `
      return [new Headers(), new Headers({ B: "2", a: " 1 " }), new Headers([["X", "1"], ["x", "2"]]), new Headers(new Headers({ c: "3" })), new Headers(new Map([["m", "1"]]))].map((h) => [...h])`,
    "append, set, get, delete": `
      const headers = new Headers({ Accept: "a" })
      headers.append("accept", "b")
      headers.set("X-One", "\\t1\\r\\n")
      headers.append("Cookie", "a=1"); headers.append("cookie", "b=2")
      headers.delete("none")
      return [headers.get("ACCEPT"), headers.get("x-one"), headers.get("none"), headers.has("cookie"), [...headers.keys()], [...headers.values()]]`,
    "keep cookies separate": `
      const headers = new Headers([["set-cookie", "a=1"], ["x", "y"], ["Set-Cookie", "b=2"]])
      return [headers.getSetCookie(), headers.get("set-cookie"), [...headers]]`,
    "include changes during iteration": `
      const headers = new Headers({ a: "1", b: "2", c: "3" })
      const seen = []
      for (const [name] of headers) { seen.push(name); if (name === "a") headers.delete("b") }
      headers.forEach((value, name, self) => seen.push(value + name, self === headers))
      return seen`,
    "refuse bad names": `return new Headers({ "a b": "1" })`,
    "refuse bad values": `return new Headers({ a: "x\\ny" })`,
    "refuse wide characters": `return new Headers({ a: "\u0100" })`,
    "refuse other arguments": `return new Headers("x")`,
    "reject invalid pairs": `return new Headers([["a"]])`
  })

  it("do not quote a bad value", async () => {
    const guest = await Guest.start()
    const message = await guest.run(`
      try { new Headers({ authorization: "secret\\nx" }) } catch (error) { return error.message }`)
    assert.strictEqual(message, "Headers: the value of authorization is invalid.")
  })
})

describe("Blob and File", () => {
  sameAsNode({
    "are made of parts": `
      const blob = new Blob(["a\u00e9", new Uint8Array([98, 99]), new Uint8Array([1, 100, 2]).subarray(1, 2), new Uint16Array([25185]).buffer, new Blob(["z"]), 7], { type: "Text/PLAIN" })
      return [blob.size, blob.type, await blob.text(), [...await blob.bytes()], (await blob.arrayBuffer()).byteLength]`,
    "slice as arrays do": `
      const blob = new Blob(["0123456789"], { type: "a/b" })
      const slices = [[], [3], [-3], [2, 5], [2, -2], [5, 2], [0, 99], [-99, 1], [1.7, 3.9], [NaN, 2]]
      return [await Promise.all(slices.map(([a, b]) => blob.slice(a, b).text())), blob.slice(0, 1).type, blob.slice(0, 1, "x/Y").type]`,
    stream: `
      const chunks = []
      for await (const chunk of new Blob(["ab", "cd"]).stream()) chunks.push(...chunk)
      return chunks`,
    "an invalid type becomes empty": `return [new Blob([], { type: "a\u00e9" }).type, new Blob().size]`,
    "files have names and dates": `
      const file = new File(["x"], "a/b.txt", { type: "t/u", lastModified: 19 })
      return [file.name, file.lastModified, file.type, file.size, file instanceof Blob, typeof new File([], "n").lastModified, Object.prototype.toString.call(file)]`,
    "reject parts that are not a list": `return new Blob("text")`
  })
})

describe("FormData", () => {
  sameAsNode({
    "appends, sets, deletes": `
      const form = new FormData()
      form.append("a", "1"); form.append("b", 2); form.append("a", "3"); form.append("c", new Blob(["x"], { type: "t/u" }), "n.txt")
      const before = [form.get("a"), form.getAll("a"), form.has("z"), form.get("z"), form.get("c").name, form.get("c").type, form.get("c") instanceof File]
      form.set("a", "new"); form.set("d", "last"); form.delete("b")
      return [before, [...form.keys()], [...form].map(([name, value]) => name + typeof value)]`,
    "names blobs": `const form = new FormData(); form.append("a", new Blob(["x"])); return [form.get("a").name, form.get("a").size]`,
    "refuses names for text": `new FormData().append("a", "b", "c")`,
    "survives a round trip through a body": `
      const form = new FormData()
      form.append('na"me', "v\\r\\nw\\nx"); form.append("\u00e9", ""); form.append("file", new File([new Uint8Array([0, 13, 10, 45, 45, 255])], 'f"\\n.bin', { type: "a/b" }))
     
      const response = new Response(form)
      const back = await response.formData()
      const file = back.get("file")
      return [/^multipart\\/form-data; boundary=[\\w-]+$/.test(response.headers.get("content-type")), [...back.keys()], back.get('na"me'), back.get("\u00e9"),
        file.name, file.type, [...await file.bytes()]]`,
    "is read from given multipart": `
      const body = '--x\\r\\nContent-Disposition: form-data; name="a"\\r\\n\\r\\n1\\r\\n--x\\r\\nContent-Type: text/css\\r\\ncontent-disposition: form-data; name="b"; filename="c.css"\\r\\n\\r\\np{}\\r\\n--x--\\r\\n'
      const form = await new Response(body, { headers: { "content-type": "multipart/form-data; boundary=x" } }).formData()
      return [form.get("a"), form.get("b").name, form.get("b").type, await form.get("b").text()]`,
    "is read from a query": `
      return [...await new Response(new URLSearchParams("a=1&b=%20x&a=2")).formData()]`,
    "is not read from malformed input": `
      return new Response("--x\\r\\nnothing", { headers: { "content-type": "multipart/form-data; boundary=x" } }).formData()`,
    "is not read from other types": `return new Response("a=1").formData()`
  })
})

describe("Response", () => {
  const read = "async (response) => [response.headers.get('content-type'), await response.text()]"
  sameAsNode({
    "sets the type of its body": `
      const bodies = ["text", new URLSearchParams("a=b"), new Blob(["x"], { type: "t/u" }), new Blob(["x"]), new Uint8Array([104, 105]), new Uint8Array([104]).buffer, null, undefined, 12]
      return Promise.all(bodies.map((body) => (${read})(new Response(body))))`,
    "keeps a given type": `return (${read})(new Response("x", { headers: { "Content-Type": "own/type" } }))`,
    "has a status": `
      return [new Response(), new Response("", { status: 404, statusText: "No" }), new Response(null, { status: 204 })].map((r) => [r.status, r.ok, r.statusText, r.type, r.url, r.redirected])`,
    "is read by every method": `
      const bytes = new TextEncoder().encode('\\ufeff{"a":1}')
      const blob = await new Response(bytes, { headers: { "content-type": "t/u" } }).blob()
      return [await new Response(bytes).json(), await new Response(bytes).text(), [...new Uint8Array(await new Response(bytes).arrayBuffer())].length,
        (await new Response(bytes).bytes()).length, blob.type, blob.size]`,
    "is read once": `
      const response = new Response("x")
      const before = response.bodyUsed
      await response.text()
      return [before, response.bodyUsed, await response.text().catch((error) => error.name), response.body.locked]`,
    "without a body can be read repeatedly": `
      const response = new Response()
      return [await response.text(), await response.text(), response.body, response.bodyUsed]`,
    "streams its body": `
      const response = new Response("abc")
      const chunks = []
      for await (const chunk of response.body) chunks.push(...chunk)
      return [chunks, response.bodyUsed, response.body === response.body]`,
    "takes streams": `
      const stream = new ReadableStream({ start(c) { c.enqueue(new Uint8Array([104])); c.enqueue(new Uint8Array([105])); c.close() } })
      const response = new Response(stream)
      return [response.body === stream, await response.text(), response.bodyUsed]`,
    "refuses used streams": `const stream = new ReadableStream(); stream.getReader(); return new Response(stream)`,
    "refuses chunks that are not bytes": `
      return new Response(new ReadableStream({ start(c) { c.enqueue("text"); c.close() } })).text()`,
    clones: `
      const response = new Response("abc", { status: 201, headers: { x: "y" } })
      const clone = response.clone()
      const streamed = new Response(new ReadableStream({ start(c) { c.enqueue(new Uint8Array([104])); c.close() } }))
      const second = streamed.clone()
      clone.headers.set("x", "changed")
      return [await response.text(), await clone.text(), clone.status, response.headers.get("x"), await streamed.text(), await second.text()]`,
    "is not cloned when used": `const response = new Response("x"); await response.text(); return response.clone()`,
    "json, redirect, error": `
      const [json, redirect, error] = [Response.json({ a: [1] }, { status: 201 }), Response.redirect("http://a/b?c", 301), Response.error()]
      return [json.headers.get("content-type"), json.status, await json.json(), redirect.status, redirect.headers.get("location"), error.type, error.status, error.ok]`,
    "freezes the headers of redirects": `Response.redirect("http://a").headers.set("a", "b")`,
    "rejects bodies for statuses without one": `return new Response("x", { status: 204 })`,
    "rejects invalid statuses": `return new Response("x", { status: 99 })`,
    "rejects invalid redirects": `return Response.redirect("http://a", 200)`,
    "fails on broken JSON": `return new Response("{").json()`
  })
})

describe("Request", () => {
  sameAsNode({
    "has the given properties": `
      const request = new Request("http://a/b?c#d", { method: "post", body: "x", headers: { a: "b" }, redirect: "manual", credentials: "omit", cache: "no-store" })
      return [request.method, request.url, [...request.headers], request.redirect, request.credentials, request.cache, request.mode, request.referrer,
        request.integrity, request.keepalive, request.destination, request.duplex, request.signal.aborted, await request.text()]`,
    "normalizes methods": `return ["get", "Delete", "report", "X-own"].map((method) => new Request("http://a", { method }).method)`,
    "copies another request and moves its body": `
      const first = new Request(new URL("http://a/"), { method: "PUT", body: "abc", headers: { x: "1" } })
      const second = new Request(first, { headers: { y: "2" } })
      return [second.method, second.headers.has("x"), second.headers.get("y"), first.bodyUsed, await second.text()]`,
    "follows its signal": `
      const controller = new AbortController()
      const request = new Request("http://a", { signal: controller.signal })
      const copy = request.clone()
      controller.abort("why")
      return [request.signal.reason, copy.signal.reason, request.signal === controller.signal]`,
    clones: `
      const request = new Request("http://a", { method: "POST", body: "abc" })
      const clone = request.clone()
      return [clone.method, clone.url, await clone.text(), await request.text()]`,
    "refuses bodies of GET": `return new Request("http://a", { body: "x" })`,
    "refuses CONNECT": `return new Request("http://a", { method: "connect" })`,
    "rejects invalid methods": `return new Request("http://a", { method: "a b" })`,
    "refuses credentials in URLs": `return new Request("http://u:p@a")`,
    "refuses relative URLs": `return new Request("/x")`,
    "rejects invalid options": `return new Request("http://a", { redirect: "sometimes" })`
  })
})
