/** Small tools, queues and observability. */
import type { Area } from "../Case.ts"

export const tools: Area = {
  name: "tools, queues, observability",
  cases: [
    {
      name: "lodash",
      code: `import _ from "lodash"\nexport const main = () => _.groupBy([1.2, 1.9, 2.1], Math.floor)`,
      expected: { 1: [1.2, 1.9], 2: [2.1] }
    },
    {
      name: "ramda",
      code: `import * as R from "ramda"\nexport const main = () => R.pipe(R.map(R.inc), R.sum)([1, 2])`,
      expected: 5
    },
    {
      name: "rxjs",
      code: `import { firstValueFrom, from, map, toArray } from "rxjs"\nexport const main = () => firstValueFrom(from([1, 2]).pipe(map((each) => each * 2), toArray()))`,
      expected: [2, 4]
    },
    {
      name: "immer",
      code: `import { produce } from "immer"\nexport const main = () => produce({ a: 1 }, (draft) => { draft.b = 2 })`,
      expected: { a: 1, b: 2 }
    },
    {
      name: "effect",
      code: `import { Effect } from "effect"\nexport const main = () => Effect.runPromise(Effect.map(Effect.succeed(1), (each) => each + 1))`,
      expected: 2
    },
    {
      name: "bluebird",
      code: `import Bluebird from "bluebird"\nexport const main = async () => Bluebird.map([1, 2], (each) => Bluebird.delay(1, each * 2))`,
      expected: [2, 4]
    },
    {
      name: "async",
      code: `import async from "async"\nexport const main = () => async.mapLimit([1, 2], 1, async (each) => each * 2)`,
      expected: [2, 4]
    },
    {
      name: "p-queue",
      code: `import Queue from "p-queue"\nexport const main = () => new Queue({ concurrency: 1 }).addAll([async () => 1, async () => 2])`,
      expected: [1, 2]
    },
    {
      name: "p-limit",
      code: `import limit from "p-limit"\nexport const main = () => Promise.all([1, 2].map((each) => limit(1)(async () => each)))`,
      expected: [1, 2]
    },
    {
      name: "bottleneck",
      code: `import Bottleneck from "bottleneck"\nexport const main = () => new Bottleneck({ maxConcurrent: 1 }).schedule(async () => 7)`,
      expected: 7
    },
    {
      name: "fastq",
      code: `import fastq from "fastq"\nexport const main = () => fastq.promise(async (each) => each * 2, 1).push(3)`,
      expected: 6
    },
    {
      name: "@aws-sdk/client-sqs",
      code: `import { SendMessageCommand, SQSClient } from "@aws-sdk/client-sqs"\nexport const main = async () => (await new SQSClient({ region: "eu-west-1", credentials: { accessKeyId: "a", secretAccessKey: "b" } }).send(new SendMessageCommand({ QueueUrl: "https://sqs.eu-west-1.amazonaws.com/1/q", MessageBody: "hi" }))).MessageId`,
      reply: { body: { MessageId: "m1", MD5OfMessageBody: "49f68a5c8493ec2c0bf489821c21fc3b" } },
      expected: "m1"
    },
    {
      name: "@upstash/qstash",
      code: `import { Client } from "@upstash/qstash"\nexport const main = async () => (await new Client({ token: "t" }).publishJSON({ url: "https://a.example.test", body: { a: 1 } })).messageId`,
      reply: { body: { messageId: "m1" } },
      expected: "m1"
    },
    {
      name: "winston",
      code: `import winston from "winston"\nimport { Writable } from "node:stream"\nexport const main = async () => {\n  const lines = []\n  const stream = new Writable({ write: (chunk, _, done) => { lines.push(String(chunk)); done() } })\n  const logger = winston.createLogger({ format: winston.format.json(), transports: [new winston.transports.Stream({ stream })] })\n  logger.info("hi", { a: 1 })\n  await new Promise((resolve) => setTimeout(resolve, 5))\n  return JSON.parse(lines[0])\n}`,
      expected: { a: 1, level: "info", message: "hi" }
    },
    {
      name: "pino",
      code: `import pino from "pino"\nexport const main = () => { const logger = pino({ level: "debug" }); logger.info({ a: 1 }, "hi"); return logger.level }`,
      expected: "debug"
    },
    {
      name: "debug",
      code: `import debug from "debug"\nexport const main = () => Boolean(debug("a").enabled)`,
      expected: false
    },
    {
      name: "@sentry/core",
      code: `import { createTransport, getCurrentScope, Scope } from "@sentry/core"\nexport const main = () => { const scope = new Scope(); scope.setTag("a", "b"); return [scope.getScopeData().tags, typeof createTransport, typeof getCurrentScope] }`,
      expected: [{ a: "b" }, "function", "function"]
    },
    {
      name: "@opentelemetry/api",
      packages: ["@opentelemetry/api", "@opentelemetry/sdk-trace-base", "@opentelemetry/context-async-hooks"],
      code: `import { context, trace } from "@opentelemetry/api"\nimport { AsyncLocalStorageContextManager } from "@opentelemetry/context-async-hooks"\nimport { BasicTracerProvider, InMemorySpanExporter, SimpleSpanProcessor } from "@opentelemetry/sdk-trace-base"\nexport const main = async () => {\n  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable())\n  const exporter = new InMemorySpanExporter()\n  const tracer = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] }).getTracer("t")\n  await tracer.startActiveSpan("outer", async (outer) => {\n    await new Promise((resolve) => setTimeout(resolve, 1))\n    tracer.startActiveSpan("inner", (inner) => inner.end())\n    outer.end()\n  })\n  const [inner, outer] = exporter.getFinishedSpans()\n  return inner.parentSpanContext.spanId === outer.spanContext().spanId\n}`,
      expected: true
    },
    {
      name: "prom-client",
      code: `import client from "prom-client"\nexport const main = async () => { const counter = new client.Counter({ name: "c", help: "h" }); counter.inc(); return (await client.register.getSingleMetricAsString("c")).includes("c 1") }`,
      expected: true
    },
    {
      name: "@logtail/node",
      packages: ["hot-shots"],
      code: `import { StatsD } from "hot-shots"\nexport const main = () => { const client = new StatsD({ mock: true }); client.increment("a"); return client.mockBuffer }`,
      expected: ["a:1|c"]
    },
    {
      name: "hono",
      code: `import { Hono } from "hono"\nexport const main = async () => { const app = new Hono(); app.get("/a/:id", (c) => c.json({ id: c.req.param("id") })); return (await app.request("/a/7")).json() }`,
      expected: { id: "7" }
    },
    {
      name: "itty-router",
      code: `import { AutoRouter } from "itty-router"\nexport const main = async () => { const router = AutoRouter(); router.get("/a/:id", ({ params }) => params); return (await router.fetch(new Request("https://a.example.test/a/7"))).json() }`,
      expected: { id: "7" }
    },
    {
      name: "@trpc/server",
      code: `import { initTRPC } from "@trpc/server"\nexport const main = async () => { const t = initTRPC.create(); const router = t.router({ hi: t.procedure.query(() => "hello") }); return t.createCallerFactory(router)({}).hi() }`,
      expected: "hello"
    },
    {
      name: "graphql",
      code: `import { buildSchema, graphql } from "graphql"\nexport const main = async () => (await graphql({ schema: buildSchema("type Query { hi: String }"), source: "{ hi }", rootValue: { hi: "hello" } })).data.hi`,
      expected: "hello"
    },
    {
      name: "lru-cache",
      code: `import { LRUCache } from "lru-cache"\nexport const main = () => { const cache = new LRUCache({ max: 1, ttl: 1000 }); cache.set("a", 1); cache.set("b", 2); return [cache.has("a"), cache.get("b")] }`,
      expected: [false, 2]
    },
    {
      name: "node-cache",
      code: `import NodeCache from "node-cache"\nexport const main = () => { const cache = new NodeCache({ checkperiod: 0 }); cache.set("a", { b: 1 }); return cache.get("a") }`,
      expected: { b: 1 }
    },
    {
      name: "eventemitter3",
      code: `import { EventEmitter } from "eventemitter3"\nexport const main = () => { let got; new EventEmitter().on("a", (each) => { got = each }).emit("a", 1); return got }`,
      expected: 1
    },
    {
      name: "bignumber.js",
      code: `import BigNumber from "bignumber.js"\nexport const main = () => new BigNumber("0.1").plus("0.2").toString()`,
      expected: "0.3"
    },
    {
      name: "decimal.js",
      code: `import Decimal from "decimal.js"\nexport const main = () => Decimal.sqrt(2).toFixed(5)`,
      expected: "1.41421"
    },
    {
      name: "mathjs",
      code: `import { evaluate } from "mathjs"\nexport const main = () => evaluate("sqrt(16) + 2")`,
      expected: 6
    },
    {
      name: "dinero.js",
      code: `import Dinero from "dinero.js"\nexport const main = () => Dinero({ amount: 500, currency: "EUR" }).multiply(3).getAmount()`,
      expected: 1500
    },
    {
      name: "libphonenumber-js",
      code: `import { parsePhoneNumber } from "libphonenumber-js"\nexport const main = () => parsePhoneNumber("+4915112345678").country`,
      expected: "DE"
    },
    {
      name: "validator",
      code: `import validator from "validator"\nexport const main = () => [validator.isEmail("a@example.com"), validator.escape("<a>")]`,
      expected: [true, "&lt;a&gt;"]
    },
    {
      name: "slugify",
      code: `import slugify from "slugify"\nexport const main = () => slugify("Grüße an Ada", { lower: true })`,
      expected: "grusse-an-ada"
    },
    {
      name: "semver",
      code: `import semver from "semver"\nexport const main = () => semver.satisfies("1.2.3", "^1.0.0")`,
      expected: true
    },
    {
      name: "diff",
      code: `import { diffWords } from "diff"\nexport const main = () => diffWords("a b", "a c").length`,
      expected: 3
    },
    {
      name: "fuse.js",
      code: `import Fuse from "fuse.js"\nexport const main = () => new Fuse(["apple", "banana"]).search("appel")[0].item`,
      expected: "apple"
    },
    {
      name: "natural",
      packages: ["stemmer"],
      code: `import { stemmer } from "stemmer"\nexport const main = () => stemmer("running")`,
      expected: "run"
    },
    {
      name: "franc",
      code: `import { franc } from "franc"\nexport const main = () => franc("Alle menschen sind frei und gleich an würde und rechten geboren")`,
      expected: "deu"
    },
    { name: "chalk", code: `import chalk from "chalk"\nexport const main = () => chalk.level`, expected: 0 },
    {
      name: "commander",
      code: `import { Command } from "commander"\nexport const main = () => new Command().option("-a <n>").parse(["-a", "1"], { from: "user" }).opts()`,
      expected: { a: "1" }
    },
    {
      name: "dotenv",
      code: `import dotenv from "dotenv"\nexport const main = () => dotenv.parse("A=1")`,
      expected: { A: "1" }
    },
    { name: "ms", code: `import ms from "ms"\nexport const main = () => ms("2h")`, expected: 7200000 },
    {
      name: "crypto-js",
      code: `import CryptoJS from "crypto-js"\nexport const main = () => CryptoJS.AES.decrypt(CryptoJS.AES.encrypt("hello", "k").toString(), "k").toString(CryptoJS.enc.Utf8)`,
      expected: "hello"
    },
    {
      name: "tweetnacl",
      code: `import nacl from "tweetnacl"\nexport const main = () => { const { publicKey, secretKey } = nacl.sign.keyPair(); const text = new Uint8Array([1]); return nacl.sign.detached.verify(text, nacl.sign.detached(text, secretKey), publicKey) }`,
      expected: true
    },
    {
      name: "node-forge",
      code: `import forge from "node-forge"\nexport const main = () => forge.md.sha256.create().update("a").digest().toHex().slice(0, 8)`,
      expected: "ca978112"
    },
    {
      name: "object-hash",
      code: `import hash from "object-hash"\nexport const main = () => hash({ a: 1 })`,
      expected: "ca1a41f90da606b052ecf10c8286817813bc8861"
    },
    {
      name: "readable-stream",
      code: `import { pipeline, Readable, Transform } from "readable-stream"\nexport const main = () => new Promise((resolve, reject) => { let text = ""; const upper = new Transform({ transform: (chunk, _, done) => done(null, String(chunk).toUpperCase()) }); upper.on("data", (chunk) => { text += chunk }); pipeline(Readable.from(["a", "b"]), upper, (error) => (error ? reject(error) : resolve(text))) })`,
      expected: "AB"
    },
    {
      name: "through2",
      code: `import through from "through2"\nexport const main = () => new Promise((resolve) => { const stream = through((chunk, _, done) => done(null, chunk + "!")); stream.on("data", (chunk) => resolve(String(chunk))); stream.write("a") })`,
      expected: "a!"
    },
    {
      name: "fs-extra",
      code: `import fs from "fs-extra"\nexport const main = async () => { await fs.outputJson("/tmp/a/b.json", { a: 1 }); return fs.readJson("/tmp/a/b.json") }`,
      expected: { a: 1 }
    },
    {
      name: "tmp",
      code: `import tmp from "tmp"\nimport fs from "fs"\nexport const main = () => { const { name } = tmp.fileSync(); fs.writeFileSync(name, "x"); return fs.readFileSync(name, "utf8") }`,
      expected: "x"
    },
    {
      name: "glob",
      packages: ["minimatch"],
      code: `import { minimatch } from "minimatch"\nexport const main = () => minimatch("a/b.js", "**/*.js")`,
      expected: true
    },
    {
      name: "xstate",
      code: `import { createActor, createMachine } from "xstate"\nexport const main = () => { const actor = createActor(createMachine({ initial: "a", states: { a: { on: { GO: "b" } }, b: {} } })).start(); actor.send({ type: "GO" }); return actor.getSnapshot().value }`,
      expected: "b"
    },
    {
      name: "json-rules-engine",
      code: `import { Engine } from "json-rules-engine"\nexport const main = async () => { const engine = new Engine(); engine.addRule({ conditions: { all: [{ fact: "n", operator: "greaterThan", value: 1 }] }, event: { type: "big" } }); return (await engine.run({ n: 2 })).events[0].type }`,
      expected: "big"
    },
    {
      name: "jsonata",
      code: `import jsonata from "jsonata"\nexport const main = () => jsonata("$sum(a.b)").evaluate({ a: [{ b: 1 }, { b: 2 }] })`,
      expected: 3
    },
    {
      name: "jsonpath-plus",
      code: `import { JSONPath } from "jsonpath-plus"\nexport const main = () => JSONPath({ path: "$..b", json: { a: { b: 1 } } })`,
      expected: [1]
    },
    {
      name: "acorn",
      code: `import { parse } from "acorn"\nexport const main = () => parse("a + 1", { ecmaVersion: 2024 }).body.length`,
      expected: 1
    },
    {
      name: "ioredis (without a connection)",
      packages: ["ioredis"],
      code: `import Redis from "ioredis"\nexport const main = () => new Redis({ lazyConnect: true }).connect().catch((error) => error.message.includes("closed"))`,
      expected: true
    }
  ]
}
