/** Evaluation of a snippet of 1 KB: where it ran before, and for the first time. */
import { fork } from "node:child_process"
import type { Figures } from "../Row.ts"
import type { Contender, Suite } from "../Suite.ts"
import { startEmbedded } from "../targets/Embedded.ts"
import { measureSnippets, snippet, snippetArgs } from "../targets/Snippet.ts"

const program = new URL("../../peers/src/snippets.ts", import.meta.url)

/** isolated-vm needs the flag; the others ignore it. */
const node = ["--conditions=weft-source", "--no-node-snapshot"]

const measurePeer = (engine: string, isShort: boolean): Promise<Figures> =>
  new Promise((resolve, reject) => {
    const child = fork(program, [engine, isShort ? "short" : "long"], {
      execArgv: node,
      stdio: ["ignore", "ignore", "inherit", "ipc"]
    })
    let figures: Figures | undefined
    child.on("message", (message: Figures) => {
      figures = message
    })
    child.once("exit", (code) =>
      figures === undefined ? reject(new Error(`The program exited with ${code}`)) : resolve(figures)
    )
  })

const measureWeft = async (isShort: boolean): Promise<Figures> => {
  const { env, close } = await startEmbedded("export const nothing = () => null")
  try {
    const evaluate = async (source: string): Promise<unknown> => {
      const { run, outcome } = await env.evaluate({ source, args: snippetArgs })
      if (outcome._tag !== "Returned") throw new Error(`The snippet ended as ${outcome._tag}: ${run.result}`)
      return JSON.parse(outcome.output)
    }
    return await measureSnippets({ clients: 32, warm: () => evaluate(snippet), cold: evaluate }, isShort)
  } finally {
    await close()
  }
}

export const evaluate: Suite = {
  name: "evaluate",
  measures: "evaluation of a snippet of 1 KB in the host's process, with JSON in and out",
  hasShort: true,
  headlines: ["warm, per second", "warm, p50 ms", "cold, p50 ms"],
  open: async ({ isShort }) => {
    const peer = (name: string, engine: string, isLimit = false): Contender => ({
      name,
      ...(isLimit ? { isLimit } : {}),
      needs: "peers",
      measure: () => measurePeer(engine, isShort)
    })
    return {
      contenders: [
        { name: "Weft", measure: () => measureWeft(isShort) },
        peer("isolated-vm alone", "isolatedVm", true),
        peer("quickjs-emscripten", "quickJs"),
        peer("node:vm (unsafe)", "nodeVm")
      ],
      settings: {
        Weft: "`weft.env(id).evaluate` without a record, in supervised child processes; 32 concurrent calls for the throughput",
        "isolated-vm alone":
          "in the process of the host, without supervision of memory, of processes or of a thread that does not stop",
        "quickjs-emscripten": "an interpreter in WebAssembly, in the thread of the host",
        "node:vm (unsafe)": "no isolation: code can leave its context and act as the host"
      },
      close: async () => {}
    }
  }
}
