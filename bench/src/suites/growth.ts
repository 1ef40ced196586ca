/** Whether anything gets slower beside millions of stored runs, or with many environments. */
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { type PostgresServer, postgres } from "@weft/tooling/services"
import { Effect } from "effect"
import { type GrowthLengths, type GrowthProcess, startGrowth } from "../growth/GrowthProcess.ts"
import { fillSqlite } from "../growth/SqliteHistory.ts"
import { questions } from "../nodes/Question.ts"
import type { Contender, OpenSuite, Suite } from "../Suite.ts"
import type { Size } from "../scale/Fill.ts"
import { prepareHistory } from "../scale/Scale.ts"

interface Form {
  readonly name: string
  readonly runs: number
  readonly envs: number
}

const empty: Form = { name: "no runs", runs: 0, envs: 1 }
const million: Form = { name: "1M runs", runs: 1_000_000, envs: 1 }
const hundredEnvs: Form = { name: "100 envs", runs: 0, envs: 100 }
/** Takes its time to prepare, as does what has ten million runs. */
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
  // What is filled into a new table goes there straight.
  wal_level: "minimal",
  max_wal_senders: "0"
}

const databases = ["SQLite", "PostgreSQL"] as const

export const growth: Suite = {
  name: "growth",
  measures: "the same work beside more and more stored runs, and spread over more and more environments",
  hasShort: true,
  open: async ({ isShort, isNamed }) => {
    const usual = [empty, million, hundredEnvs]
    const forms = isShort ? [small] : isNamed ? [...usual, tenMillion, thousandEnvs] : usual
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
    const progress = seldom((text) => process.stderr.write(`  ${database}, ${name}: ${text}\n`))
    const file = join(own, "weft.db")
    if (database === "SQLite") await fillSqlite(file, size, progress)
    else server ??= postgres({ durable: true, settings: serverSettings })
    const url = server === undefined || database === "SQLite" ? undefined : await newDatabase((await server).url)
    if (url !== undefined) await Effect.runPromise(prepareHistory(url, size, progress))
    const started = await startGrowth({ file, dir: own, envs, ...(url === undefined ? {} : { url }) })
    running.push(started)
    // Whatever is compiled, and cached, at first.
    if (length !== shortLengths) await started.measure(length)
    return started
  }

  const contenderOf = (database: (typeof databases)[number], form: Form): Contender => {
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
    contenders: databases.flatMap((database) => forms.map((form) => contenderOf(database, form))),
    settings: {
      "stored runs": `spread over the ${weeks} weeks before, all in one environment; events of four in ten of them`,
      environments: "each with a build of its own, worked in in turn, so that isolates come and go",
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

/** Told at most so often, in milliseconds. */
const progressMs = 5_000

const seldom = (tell: (text: string) => void): ((text: string) => void) => {
  let last = performance.now()
  return (text) => {
    if (performance.now() - last < progressMs) return
    last = performance.now()
    tell(text)
  }
}

let made = 0

const newDatabase = async (url: string): Promise<string> => {
  const name = `growth_${++made}`
  await questions(url)(`CREATE DATABASE ${name}`)
  const own = new URL(url)
  own.pathname = `/${name}`
  return own.href
}
