/** `node:timers/promises`. */

interface Options {
  readonly signal?: AbortSignal
}

const aborted = (signal: AbortSignal): Error =>
  Object.assign(new Error("The operation was aborted", { cause: signal.reason }), {
    name: "AbortError",
    code: "ABORT_ERR"
  })

export const setTimeout = <A>(ms?: number, value?: A, { signal }: Options = {}): Promise<A | undefined> =>
  new Promise((resolve, reject) => {
    if (signal?.aborted === true) return reject(aborted(signal))
    const timer = globalThis.setTimeout(() => resolve(value), ms)
    signal?.addEventListener("abort", () => {
      clearTimeout(timer)
      reject(aborted(signal))
    })
  })

export const setImmediate = <A>(value?: A, options?: Options): Promise<A | undefined> => setTimeout(0, value, options)

export async function* setInterval<A>(ms?: number, value?: A, options?: Options): AsyncGenerator<A | undefined> {
  while (true) yield await setTimeout(ms, value, options)
}

export const scheduler = {
  wait: (ms: number, options?: Options) => setTimeout(ms, undefined, options),
  yield: () => setImmediate()
}
export default { scheduler, setImmediate, setInterval, setTimeout }
