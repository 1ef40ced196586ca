/**
 * Deceptive values, and all places where a value crosses the border of the isolate or is used near it. Only the run
 * itself may be affected.
 */

/** Expressions. Each is evaluated again for every place. */
export const values: Readonly<Record<string, string>> = {
  undefined: "undefined",
  null: "null",
  "not a number": "NaN",
  "minus zero": "-0",
  "the largest number": "Number.MAX_VALUE",
  "a BigInt": "2n ** 200n",
  "a symbol": 'Symbol("s")',
  "a registered symbol": 'Symbol.for("nodejs.util.inspect.custom")',
  "a function": "() => { throw new Error('called') }",
  "a class": "class { static then = 1 }",
  "a lone surrogate": '"\\ud800"',
  "surrogates in the wrong order": '"\\udc00\\ud800x"',
  "a NUL": '"a\\0b"',
  "line separators": '"\\u2028\\u2029\\r\\n"',
  "a byte order mark": '"\\ufeff{}"',
  "frames of the kernel": '"R1,0,0,4,0:nullC1,1,0,6,2:forged{}"',
  "frames of the socket": '"\\u0005\\0\\0\\0\\u0005\\0\\0\\0\\u0001"',
  "a long string": '"x".repeat(3e6)',
  "a rope": '(() => { let s = "ab"; for (let i = 0; i < 20; i++) s += s; return s })()',
  "an own __proto__": 'JSON.parse(\'{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}}}\')',
  "no prototype": "Object.assign(Object.create(null), { type: 't', a: 1 })",
  "a cycle": "(() => { const o = {}; o.o = o; return o })()",
  "a deep array": "(() => { let a = []; for (let i = 0; i < 3000; i++) a = [a]; return a })()",
  "a wide object": "Object.fromEntries(Array.from({ length: 20000 }, (_, i) => ['k' + i, i]))",
  "an array with holes": "Object.assign([], { length: 1e6, 5: 1 })",
  "something like a huge array": "({ length: 2 ** 53 - 1, 0: 'a' })",
  "getters that throw": "({ get type() { throw new RangeError('g') }, get then() { throw new RangeError('t') } })",
  "a getter with a different value each time":
    "(() => { let n = 0; return { get type() { return n++ === 0 ? 't' : { n } }, get status() { return n++ ? 99999 : 200 } } })()",
  "a thenable that throws": "({ then() { throw new RangeError('then') } })",
  "a thenable that settles twice": "({ then(yes, no) { yes(1); no(2); yes({ then: null }) } })",
  "thenables without end":
    "(() => { let left = 500; const t = { then(yes) { yes(--left > 0 ? t : 1) } }; return t })()",
  "a promise that fails": "(() => { const p = Promise.reject(new RangeError('p')); p.catch(() => {}); return p })()",
  "toJSON that returns undefined": "({ toJSON() { return undefined } })",
  "toJSON that throws": "({ toJSON() { throw new RangeError('j') } })",
  "toJSON that lies": "({ toJSON: () => ({ toString: () => 'x', length: 0 }) })",
  "raw JSON": "typeof JSON.rawJSON === 'function' ? JSON.rawJSON('\"raw\"') : 1",
  "a primitive on demand":
    "({ [Symbol.toPrimitive](hint) { if (hint === 'string') throw new RangeError('s'); return 1 } })",
  "no primitive at all": "({ toString: null, valueOf: null })",
  "a string object that lies": "Object.assign(new String('abc'), { toString: () => 'R1,0,0,0,0:', length: 0 })",
  "a number object": "Object.assign(new Number(200), { valueOf: () => 99999 })",
  "a proxy of everything":
    "new Proxy(function () {}, { get: (t, k, r) => k === Symbol.toPrimitive ? () => 'p' : k === 'then' || k === 'toJSON' ? undefined : r, apply: (t, s, a) => a, construct: () => ({}), ownKeys: () => ['a', 'b'], getOwnPropertyDescriptor: () => ({ value: 1, enumerable: true, configurable: true }), has: () => true })",
  "a proxy whose traps throw": "new Proxy({}, new Proxy({}, { get() { throw new RangeError('trap') } }))",
  "a proxy of an array": "new Proxy([1, 2], { get: (t, k) => k === 'length' ? 1e6 : t[k] })",
  "a revoked proxy": "(() => { const { proxy, revoke } = Proxy.revocable({}, {}); revoke(); return proxy })()",
  "a proxy whose prototype is endless": "new Proxy({}, { getPrototypeOf: (t) => t, get: () => undefined })",
  "an error with getters":
    "Object.defineProperties(new Error('e'), { message: { get() { throw 1 } }, stack: { get() { throw 2 } }, name: { get() { throw 3 } }, cause: { get() { throw 4 } } })",
  "an error with huge texts":
    "Object.assign(new Error('m'.repeat(1e6)), { name: 'n'.repeat(1e6), stack: 's'.repeat(1e6), cause: 'c'.repeat(1e6) })",
  "an error that causes itself": "(() => { const e = new Error('e'); e.cause = e; return e })()",
  "an error named by an object":
    "Object.assign(new Error('e'), { name: { toString() { throw 1 } }, message: Symbol('m'), stack: [] })",
  "errors of many": "new AggregateError([new Error('a'), null], 'all')",
  "an invalid date": "new Date(NaN)",
  "a map": "new Map([[{}, new Set([1])]])",
  "a weak map": "new WeakMap()",
  "a regular expression": "Object.assign(/x/g, { exec() { throw 1 }, lastIndex: {} })",
  "an async generator": "(async function* () { yield 1; throw new RangeError('ag') })()",
  "a generator": "(function* () { yield 1; return 2 })()",
  bytes: "new Uint8Array([0xff, 0xfe, 0, 0x80])",
  "bytes with a length of their own": "Object.defineProperty(new Uint8Array(4), 'length', { value: 1e9 })",
  "a view of bytes that are gone":
    "(() => { const u = new Uint8Array(8); try { structuredClone(u.buffer, { transfer: [u.buffer] }) } catch {} return u })()",
  "a response": "new Response('x', { status: 201, headers: { 'x-a': 'b' } })",
  "a response whose headers lie":
    "Object.defineProperty(new Response('x'), 'headers', { value: { forEach: (visit) => { visit('a\\r\\nb: c', 'x'); visit({}, 'set-cookie') } } })",
  "a stream": "new ReadableStream({ pull(c) { c.enqueue(new Uint8Array(10)); c.close() } })",
  svc: "svc",
  "the global": "globalThis",
  arguments: "(function () { return arguments })(1, 2)"
}

/** Code for each place, which uses the value `v`. */
export const places: Readonly<Record<string, { readonly code: string; readonly trigger?: "request" }>> = {
  "a result": { code: "return v" },
  "a part of a result": { code: "return { a: [v], b: { v } }" },
  "something thrown": { code: "throw v" },
  "a cause": { code: "throw new Error('x', { cause: v })" },
  "a promise that fails": { code: "return Promise.reject(v)" },
  "an unhandled rejection": { code: "Promise.reject(v); return 1" },
  "a response": { code: "return v", trigger: "request" },
  "a status": { code: "return { status: v }", trigger: "request" },
  "a body": { code: "return { status: 200, body: v }", trigger: "request" },
  "a body of text": {
    code: "return { status: 200, headers: { 'content-type': 'text/html' }, body: v }",
    trigger: "request"
  },
  "a body of bytes": {
    code: "return { status: 200, headers: { 'content-type': 'application/octet-stream' }, body: v }",
    trigger: "request"
  },
  headers: { code: "return { status: 200, headers: v, body: 'x' }", trigger: "request" },
  "a header": {
    code: "return { status: 200, headers: { 'x-a': v, 'set-cookie': [v] }, body: 'x' }",
    trigger: "request"
  },
  "the type of a body": {
    code: "return { status: 200, headers: { 'content-type': v }, body: 'x' }",
    trigger: "request"
  },
  "a web response": { code: "return new Response(v, { headers: { 'x-a': 'b' } })", trigger: "request" },
  "the console": {
    code: "console.log(v, [v]); console.error('%s %d %i %f %j %o %O', v, v, v, v, v, v, v); console.table(v); return 1"
  },
  "a line of the log": { code: "svc.log.info(v); svc.log.warn('m', v); svc.log.error(v, v); return 1" },
  "an event": { code: "return svc.events.publish(v)" },
  "an event's data": { code: "return svc.events.publish({ type: 't', data: v })" },
  "a host function": { code: "return svc.host.crm.lookup(v)" },
  "the name of a host function": { code: "return svc.host[v](1)" },
  "a secret's key": { code: "return svc.context.get(v)" },
  "a message on a stream": { code: "await svc.stream.emit('t', v); return svc.stream.emit(v, 1)" },
  "a schedule": {
    code: "await svc.schedules.create(v).catch(() => 1); return svc.schedules.create({ fn: v, args: v, schedule: v })"
  },
  "a call": { code: "await svc.call(v, []).catch(() => 1); return svc.call('main/f', v)" },
  "a call within the run": { code: "await svc.invoke(v).catch(() => 1); return svc.invoke('main/none', v)" },
  "a path": { code: "return svc.files.get(v)" },
  "a file": { code: "return svc.files.put('a', v, v)" },
  "an asset": { code: "return svc.asset(v)" },
  "an address": { code: "return fetch(v).then((r) => r.status)" },
  "a request": { code: "return fetch('https://a.test/', v).then((r) => r.status)" },
  "parts of a request": {
    code: "return fetch('https://a.test/', { method: 'POST', body: v, headers: { a: v } }).then((r) => r.status)"
  },
  "a delay": { code: "setTimeout(() => {}, v); clearTimeout(v); return 1" },
  "a timer": { code: "setTimeout(v, 0); queueMicrotask(v); return new Promise((go) => setTimeout(go, 2))" },
  "a clone": { code: "return structuredClone(v)" },
  "an abort reason": {
    code: "const c = new AbortController(); c.signal.addEventListener('abort', () => { throw v }); c.abort(v); return c.signal.reason"
  },
  "an awaited value": { code: "return await v" }
}

/** One export per place; its argument is the index of the value. */
export const crossingScript = `
const values = [${Object.values(values)
  .map((code) => `(svc) => (${code})`)
  .join(",\n")}]
${Object.values(places)
  .map(
    ({ code }, index) =>
      `export const place${index} = async (event, svc) => { const v = values[event.value](svc); ${code} }`
  )
  .join("\n")}`
