/** Time to the first response, and memory while idle. */
import { randomUUID } from "node:crypto"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { listChildren, listTree, proportionalMiB } from "../instruments/ProcessTree.ts"
import { upload } from "../instruments/upload.ts"
import type { Contender, Suite, SuiteOptions } from "../Suite.ts"
import { ColdServer, firstAnswer } from "../targets/ColdServer.ts"
import type { HookTarget } from "../targets/HookServer.ts"
import { n8n } from "../targets/N8n.ts"
import { plainHooks } from "../targets/PlainHooks.ts"
import { workerd } from "../targets/Workerd.ts"

const idleMs = 2000
const buildBytes = 512 * 1024

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

const hookSource = (service: string): string => `
export const get = () => ({ status: 200, body: { hello: "${service}" } })
get.meta = { webhook: { service: "${service}", path: "/hello", method: "GET" } }
`

/** Returns ordinary, distinct functions, like the output of a bundler. */
const largeHookSource = (service: string): string => {
  const functions: Array<string> = []
  for (let bytes = 0; bytes < buildBytes; bytes += functions.at(-1)?.length ?? 0) {
    const name = `${service}_${functions.length}`
    functions.push(`function ${name}(count, suffix) {
  const items = []
  for (let n = 0; n < count; n++) items.push({ n, name: "item of ${name} " + n + suffix, tags: ["${name}", suffix] })
  return items.filter(({ n }) => n % 2 === 0).map(({ name }) => name).join(",")
}
`)
  }
  const all = functions.map((_, index) => `${service}_${index}`).join(", ")
  return `${functions.join("")}
const all = [${all}]
export const get = () => ({ status: 200, body: { hello: all[7](3, "x") } })
get.meta = { webhook: { service: "${service}", path: "/hello", method: "GET" } }
`
}

const hookUrl = (server: ColdServer, service: string): string =>
  `${server.url}/webhook/default/production/${service}/hello`

/** Measures starts, first calls and memory of the reference server. */
const measureWeft = async ({ isShort }: SuiteOptions): Promise<Record<string, number>> => {
  const dir = mkdtempSync(join(tmpdir(), "weft-bench-cold-"))
  const key = `svc_${randomUUID()}_${randomUUID().replaceAll("-", "")}`
  try {
    const first = await ColdServer.begin(dir, key)
    const answered = await first.answers("/healthz")
    await upload(first.url, key, "hello", hookSource("hello"))
    await firstAnswer(hookUrl(first, "hello"))
    const fromNothing = first.sinceStart()
    await first.close()

    const again = await ColdServer.begin(dir, key)
    const health = await again.answers("/healthz")
    const code = await again.answers("/webhook/default/production/hello/hello")
    await again.close()

    const idle = await ColdServer.begin(dir, key)
    await idle.answers("/healthz")
    await pause(idleMs)
    const idleMiB = proportionalMiB(listTree(idle.pid))
    const builds = await firstCalls(idle, key, isShort ? 2 : 10)
    await idle.close()
    return {
      "empty data directory: process start → first response, ms": answered,
      "empty data directory: process start → first response of user code, ms": fromNothing,
      "process start → first response, ms": health,
      "process start → first response of user code, ms": code,
      "idle memory, MiB": idleMiB,
      ...builds
    }
  } finally {
    rmSync(dir, { recursive: true, force: true })
  }
}

/** Measures the first calls of new builds of 512 KiB, right after their deployment. */
const firstCalls = async (server: ColdServer, key: string, count: number): Promise<Record<string, number>> => {
  const firsts: Array<number> = []
  const seconds: Array<number> = []
  let before = 0
  for (let n = 0; n <= count; n++) {
    await upload(server.url, key, `large-${n}`, largeHookSource(`large${n}`))
    const url = hookUrl(server, `large${n}`)
    const times = [await firstAnswer(url), await firstAnswer(url)] as const
    // The first build starts the compiler and further runners, which keep running.
    if (n > 0) {
      firsts.push(times[0])
      seconds.push(times[1])
    }
    if (n === 0) {
      await pause(idleMs)
      before = proportionalMiB(listTree(server.pid))
    }
  }
  await pause(idleMs)
  const perBuild = (proportionalMiB(listTree(server.pid)) - before) / count
  return {
    "first call of a new build of 512 KB, ms": middle(firsts),
    "second call of that build, ms": middle(seconds),
    "memory per warm build, MiB": perBuild
  }
}

const middle = (values: ReadonlyArray<number>): number =>
  [...values].sort((a, b) => a - b)[values.length >> 1] ?? Number.NaN

const readyWithinMs = 30_000

/** Waits for the first successful response; a peer may accept connections before it serves its function. */
const waitUntilReady = async (url: string): Promise<void> => {
  const until = performance.now() + readyWithinMs
  for (;;) {
    try {
      await firstAnswer(url)
      return
    } catch (error) {
      if (performance.now() >= until) throw error
      await pause(5)
    }
  }
}

/** Measures the start of a peer with one function, and its memory while idle. */
const measurePeer = async (target: HookTarget): Promise<Record<string, number>> => {
  const known = new Set(listChildren(process.pid))
  const began = performance.now()
  const server = await target.start(0)
  try {
    await waitUntilReady(server.url)
    const answered = performance.now() - began
    await pause(idleMs)
    const started = listChildren(process.pid).filter((pid) => !known.has(pid))
    return {
      "empty data directory: process start → first response of user code, ms": answered,
      // A peer without stored data always starts with an empty data directory.
      ...(target === n8n ? {} : { "process start → first response of user code, ms": answered }),
      "idle memory, MiB": proportionalMiB(started.flatMap(listTree))
    }
  } finally {
    await server.close()
  }
}

export const cold: Suite = {
  name: "cold",
  measures: "time from process start to the first response, first call of a new build, and idle memory",
  hasShort: true,
  headlines: [
    "process start → first response of user code, ms",
    "first call of a new build of 512 KB, ms",
    "idle memory, MiB"
  ],
  open: async (options) => {
    const settings: Record<string, string> = {
      Weft: "the reference server, started like `npm start`, with SQLite, synchronous=FULL, in its data directory; compiled once before",
      memory: `of the process and all its descendants, proportional (PSS), after ${idleMs / 1000} s of idle time`
    }
    const peers = [plainHooks, workerd, n8n].filter((target) => !(options.isShort && target === n8n))
    const makeContender = (target: HookTarget): Contender => ({
      name: target.name,
      ...(target.isLimit === undefined ? {} : { isLimit: target.isLimit }),
      ...(target.needs === undefined ? {} : { needs: target.needs }),
      measure: async () => {
        const figures = await measurePeer(target)
        settings[target.name] = target.settings()
        return figures
      }
    })
    await ColdServer.compile()
    return {
      contenders: [{ name: "Weft", measure: () => measureWeft(options) }, ...peers.map(makeContender)],
      settings,
      close: async () => {}
    }
  }
}
