/** Measures the same work with more and more stored runs, and with more and more environments. */
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { queryAt } from "@weft/bench/instruments"
import type { Contender, OpenSuite, Suite } from "@weft/bench/suites"
import { type PostgresServer, postgres } from "@weft/tooling/services"
import { Effect } from "effect"
import type { Size } from "../scale/Fill.ts"
import { prepareHistory } from "../scale/Scale.ts"
import { type GrowthLengths, type GrowthProcess, startGrowth } from "./GrowthProcess.ts"
import { fillSqlite } from "./SqliteHistory.ts"

interface Form {
  readonly name: string
  readonly runs: number
  readonly envs: number
}

const empty: Form = { name: "no runs", runs: 0, envs: 1 }
const million: Form = { name: "1M runs", runs: 1_000_000, envs: 1 }
const hundredEnvs: Form = { name: "100 envs", runs: 0, envs: 100 }
/** Takes long to prepare, as do ten million runs. */
const thousandEnvs: Form = { name: "1000 envs", runs: 0, envs: 1000 }
const tenMillion: Form = { name: "10M runs", runs: 10_000_000, envs: 1 }
const small: Form = { name: "1000 runs, 2 envs", runs: 1_000, envs: 2 }

const weeks = 10

const lengths: GrowthLengths = { warmupSeconds: 0.5, seconds: 1.5, samples: 60 }
const shortLengths: GrowthLengths = { warmupSeconds: 0.1, seconds: 0.3, samples: 10 }

const serverSettings = {
  shared_buffers: "1GB",
  max_wal_size: "8GB",
  maintenance_work_mem: "256MB",
  // With `minimal`, rows of a new table skip the write-ahead log.
  wal_level: "minimal",
  max_wal_senders: "0"
}

const databases = ["SQLite", "PostgreSQL"] as const

export const growth: Suite = {
  name: "growth",
  measures: "the same work with more and more stored runs, and spread over more and more environments",
  hasShort: true,
  open: async ({ isShort, isNamed }) => {
    const defaults = [empty, million, hundredEnvs]
    const forms = isShort ? [small] : isNamed ? [...defaults, tenMillion, thousandEnvs] : defaults
    return openForms(forms, isShort ? shortLengths : lengths)
  }
}

const openForms = async (forms: ReadonlyArray<Form>, length: GrowthLengths): Promise<OpenSuite> => {
  const dir = mkdtempSync(join(tmpdir(), "weft-bench-growth-"))
  const running: Array<GrowthProcess> = []
  let server: Promise<PostgresServer> | undefined

  const begin = async (database: (typeof databases)[number], { name, runs, envs }: Form): Promise<GrowthProcess> => {
    const own = mkdtempSync(join(dir, "weft-"))
    const size: Size = { runs, envs, deliveries: 0, weeks, now: Date.now() }
    const progress = throttle((text) => process.stderr.write(`  ${database}, ${name}: ${text}\n`))
    const file = join(own, "weft.db")
    if (database === "SQLite") await fillSqlite(file, size, progress)
    else server ??= postgres({ durable: true, settings: serverSettings })
    const url = server === undefined || database === "SQLite" ? undefined : await newDatabase((await server).url)
    if (url !== undefined) await Effect.runPromise(prepareHistory(url, size, progress))
    const started = await startGrowth({ file, dir: own, envs, ...(url === undefined ? {} : { url }) })
    running.push(started)
    // A warm-up fills caches and compiles code.
    if (length !== shortLengths) await started.measure(length)
    return started
  }

  const makeContender = (database: (typeof databases)[number], form: Form): Contender => {
    let begun: Promise<GrowthProcess> | undefined
    return {
      name: `${database}, ${form.name}`,
      ...(form === empty ? { isLimit: true } : { limit: `${database}, ${empty.name}` }),
      measure: async () => {
        begun ??= begin(database, form)
        return (await begun).measure(length)
      }
    }
  }

  return {
    contenders: databases.flatMap((database) => forms.map((form) => makeContender(database, form))),
    settings: {
      "stored runs": `spread over the last ${weeks} weeks, all in one environment; 4 of 10 runs have events`,
      environments: "each with its own build, used in turn, so that isolates are created and evicted",
      SQLite: "WAL, synchronous=FULL, group commit",
      PostgreSQL: `18, fsync=on, synchronous_commit=on, ${Object.entries(serverSettings)
        .map(([name, value]) => `${name}=${value}`)
        .join(", ")}`
    },
    close: async () => {
      await Promise.all(running.map((each) => each.close()))
      await (await server)?.remove()
      rmSync(dir, { recursive: true, force: true })
    }
  }
}

/** Minimum interval of progress messages, in milliseconds. */
const progressMs = 5_000

const throttle = (report: (text: string) => void): ((text: string) => void) => {
  let last = performance.now()
  return (text) => {
    if (performance.now() - last < progressMs) return
    last = performance.now()
    report(text)
  }
}

let made = 0

const newDatabase = async (url: string): Promise<string> => {
  const name = `growth_${++made}`
  await queryAt(url)(`CREATE DATABASE ${name}`)
  const own = new URL(url)
  own.pathname = `/${name}`
  return own.href
}
