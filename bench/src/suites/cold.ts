/** How long it takes until something answers, and what it takes to wait. */
import { randomUUID } from "node:crypto"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { Contender, Suite, SuiteOptions } from "../Suite.ts"
import { ColdServer, firstAnswer } from "../targets/ColdServer.ts"
import type { HookTarget } from "../targets/HookServer.ts"
import { n8n } from "../targets/N8n.ts"
import { plainHooks } from "../targets/PlainHooks.ts"
import { childrenOf, proportionalMiB, treeOf } from "../targets/ProcessTree.ts"
import { upload } from "../targets/upload.ts"
import { workerd } from "../targets/Workerd.ts"

const restMs = 2000
const buildBytes = 512 * 1024

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

const hookOf = (service: string): string => `
export const get = () => ({ status: 200, body: { hello: "${service}" } })
get.meta = { webhook: { service: "${service}", path: "/hello", method: "GET" } }
`

/** Functions of an ordinary kind, none like another, as a bundler leaves them behind. */
const largeHookOf = (service: string): string => {
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

/** Starts, first calls and memory of the reference server. */
const measureWeft = async ({ isShort }: SuiteOptions): Promise<Record<string, number>> => {
  const dir = mkdtempSync(join(tmpdir(), "weft-bench-cold-"))
  const key = `svc_${randomUUID()}_${randomUUID().replaceAll("-", "")}`
  try {
    const first = await ColdServer.begin(dir, key)
    const answered = await first.answers("/healthz")
    await upload(first.url, key, "hello", hookOf("hello"))
    await firstAnswer(hookUrl(first, "hello"))
    const fromNothing = first.sinceStart()
    await first.close()

    const again = await ColdServer.begin(dir, key)
    const health = await again.answers("/healthz")
    const code = await again.answers("/webhook/default/production/hello/hello")
    await again.close()

    const idle = await ColdServer.begin(dir, key)
    await idle.answers("/healthz")
    await pause(restMs)
    const idleMiB = proportionalMiB(treeOf(idle.pid))
    const builds = await firstCalls(idle, key, isShort ? 2 : 10)
    await idle.close()
    return {
      "nothing there: process start → first answer, ms": answered,
      "nothing there: process start → first answer of user code, ms": fromNothing,
      "process start → first answer, ms": health,
      "process start → first answer of user code, ms": code,
      "idle memory, MiB": idleMiB,
      ...builds
    }
  } finally {
    rmSync(dir, { recursive: true, force: true })
  }
}

/** New builds of half a MiB, each called at once when it is deployed. */
const firstCalls = async (server: ColdServer, key: string, count: number): Promise<Record<string, number>> => {
  const firsts: Array<number> = []
  const seconds: Array<number> = []
  let before = 0
  for (let n = 0; n <= count; n++) {
    await upload(server.url, key, `large-${n}`, largeHookOf(`large${n}`))
    const url = hookUrl(server, `large${n}`)
    const times = [await firstAnswer(url), await firstAnswer(url)] as const
    // The first one starts the compiler and other runners, which stay.
    if (n > 0) {
      firsts.push(times[0])
      seconds.push(times[1])
    }
    if (n === 0) {
      await pause(restMs)
      before = proportionalMiB(treeOf(server.pid))
    }
  }
  await pause(restMs)
  const perBuild = (proportionalMiB(treeOf(server.pid)) - before) / count
  return {
    "first call of a new build of 512 KB, ms": middle(firsts),
    "second call of it, ms": middle(seconds),
    "memory for each warm build, MiB": perBuild
  }
}

const middle = (values: ReadonlyArray<number>): number =>
  [...values].sort((a, b) => a - b)[values.length >> 1] ?? Number.NaN

const patienceMs = 30_000

/** A peer may take what it is to serve before it serves that. */
const answering = async (url: string): Promise<void> => {
  const until = performance.now() + patienceMs
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

/** A peer from nothing, with one function, and what it takes when nothing is asked of it. */
const measurePeer = async (target: HookTarget): Promise<Record<string, number>> => {
  const known = new Set(childrenOf(process.pid))
  const began = performance.now()
  const server = await target.start(0)
  try {
    await answering(server.url)
    const answered = performance.now() - began
    await pause(restMs)
    const started = childrenOf(process.pid).filter((pid) => !known.has(pid))
    return {
      "nothing there: process start → first answer of user code, ms": answered,
      // What keeps nothing starts from nothing every time.
      ...(target === n8n ? {} : { "process start → first answer of user code, ms": answered }),
      "idle memory, MiB": proportionalMiB(started.flatMap(treeOf))
    }
  } finally {
    await server.close()
  }
}

export const cold: Suite = {
  name: "cold",
  measures: "from the start of a process to its first answer, the first call of a new build, and memory at rest",
  hasShort: true,
  headlines: [
    "process start → first answer of user code, ms",
    "first call of a new build of 512 KB, ms",
    "idle memory, MiB"
  ],
  open: async (options) => {
    const settings: Record<string, string> = {
      Weft: "the reference server as `npm start` starts it, with SQLite, synchronous=FULL, in its data dir; compiled once before",
      memory: `of the process and all that it started, proportional (PSS), after ${restMs / 1000} s of rest`
    }
    const peers = [plainHooks, workerd, n8n].filter((target) => !(options.isShort && target === n8n))
    const contenderOf = (target: HookTarget): Contender => ({
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
      contenders: [{ name: "Weft", measure: () => measureWeft(options) }, ...peers.map(contenderOf)],
      settings,
      close: async () => {}
    }
  }
}
