/** Engines without supervision that run the snippet in this process. The argument selects one; the figures are its message. */
import { Script } from "node:vm"
import ivm from "isolated-vm"
import { getQuickJS } from "quickjs-emscripten"
import { measureSnippets, type SnippetEngine, snippet, snippetArgs } from "../../src/targets/Snippet.ts"

const argsText = JSON.stringify(snippetArgs)

/** A function of JSON text that returns JSON text, so that no object crosses the border. */
const wrap = (source: string): string =>
  `((text) => JSON.stringify(((args) => {"use strict";${source}\n})(JSON.parse(text))))`

const isolatedVm = async (): Promise<SnippetEngine> => {
  const open = async (source: string) => {
    const isolate = new ivm.Isolate({ memoryLimit: 128 })
    const context = await isolate.createContext()
    const script = await isolate.compileScript(wrap(source))
    const run: ivm.Reference<(text: string) => string> = await script.run(context, { reference: true })
    return { isolate, run }
  }
  const { run } = await open(snippet)
  const call = async (fn: typeof run) => JSON.parse(await fn.apply(undefined, [argsText], { timeout: 1000 }))
  return {
    clients: 32,
    warm: () => call(run),
    cold: async (source) => {
      const { isolate, run: once } = await open(source)
      const result = await call(once)
      isolate.dispose()
      return result
    }
  }
}

const quickJs = async (): Promise<SnippetEngine> => {
  const engine = await getQuickJS()
  const open = (source: string) => {
    const runtime = engine.newRuntime({ memoryLimitBytes: 128 * 1024 * 1024 })
    const context = runtime.newContext()
    const fn = context.unwrapResult(context.evalCode(wrap(source)))
    return {
      call: () => {
        const until = Date.now() + 1000
        runtime.setInterruptHandler(() => Date.now() > until)
        const input = context.newString(argsText)
        const output = context.unwrapResult(context.callFunction(fn, context.undefined, input))
        const result: unknown = JSON.parse(context.getString(output))
        input.dispose()
        output.dispose()
        return result
      },
      dispose: () => {
        fn.dispose()
        context.dispose()
        runtime.dispose()
      }
    }
  }
  const kept = open(snippet)
  return {
    clients: 1,
    warm: async () => kept.call(),
    cold: async (source) => {
      const once = open(source)
      const result = once.call()
      once.dispose()
      return result
    }
  }
}

const nodeVm = async (): Promise<SnippetEngine> => {
  const open = (source: string): ((text: string) => string) => new Script(wrap(source)).runInNewContext({})
  const run = open(snippet)
  return {
    clients: 1,
    warm: async () => JSON.parse(run(argsText)),
    cold: async (source) => JSON.parse(open(source)(argsText))
  }
}

const engines: Readonly<Record<string, () => Promise<SnippetEngine>>> = { isolatedVm, quickJs, nodeVm }

const [name = "", length] = process.argv.slice(2)
const engine = await engines[name]?.()
if (engine === undefined) throw new Error(`There is no engine ${name}`)
process.send?.(await measureSnippets(engine, length === "short"))
process.disconnect()
