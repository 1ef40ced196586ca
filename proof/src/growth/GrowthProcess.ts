/** A child process with its own Weft that measures itself on request. */
import { fork } from "node:child_process"
import type { Figures } from "@weft/bench/suites"

export interface GrowthOptions {
  /** The SQLite file. */
  readonly file: string
  /** URL of PostgreSQL, instead of the file. */
  readonly url?: string
  /** Folder of all other data. */
  readonly dir: string
  /** Number of environments in use. */
  readonly envs: number
}

export interface GrowthLengths {
  readonly warmupSeconds: number
  readonly seconds: number
  /** Number of sequential samples. */
  readonly samples: number
}

export type GrowthAnswer =
  | { readonly kind: "ready" }
  | { readonly kind: "measured"; readonly figures: Figures }
  | { readonly kind: "failed"; readonly reason: string }

export interface GrowthProcess {
  readonly measure: (lengths: GrowthLengths) => Promise<Figures>
  readonly close: () => Promise<void>
}

const node = ["--conditions=weft-source", "--max-semi-space-size=16"]

export const startGrowth = async (options: GrowthOptions): Promise<GrowthProcess> => {
  const child = fork(new URL("./GrowthProgram.ts", import.meta.url), [JSON.stringify(options)], {
    execArgv: node,
    stdio: ["ignore", "ignore", "inherit", "ipc"]
  })
  const exited = new Promise<string>((resolve) => child.once("exit", (code, signal) => resolve(String(signal ?? code))))
  const nextAnswer = (): Promise<Figures> =>
    new Promise((resolve, reject) => {
      child.once("message", (text) => {
        const answer: GrowthAnswer = JSON.parse(String(text))
        if (answer.kind === "failed") reject(new Error(answer.reason))
        else resolve(answer.kind === "measured" ? answer.figures : {})
      })
      void exited.then((how) => reject(new Error(`The process exited with ${how}`)))
    })
  await nextAnswer()
  return {
    measure: (lengths) => {
      const figures = nextAnswer()
      child.send(JSON.stringify(lengths))
      return figures
    },
    close: async () => {
      if (child.connected) child.send("null")
      await exited
    }
  }
}
