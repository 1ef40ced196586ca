/** Bounded fan-out over items. The order of its requests follows from the results alone, so it is the same in each replay. */
import {
  apply,
  defineProperty,
  getProperty,
  isArray,
  isInteger,
  NativePromise,
  NativeTypeError,
  resolve,
  whenSettled
} from "./primordials.ts"

const defaultConcurrency = 10
const concurrencyMax = 1_000

/**
 * Calls `fn(item, index)` for each item. After a failure no further call starts; the promise rejects with the first error
 * once the started calls have ended.
 */
export const fanOut = (items: unknown, fn: unknown, options: unknown): Promise<unknown> => {
  if (!isArray(items) || typeof fn !== "function") {
    throw new NativeTypeError("svc.all takes an array, a function, and { concurrency }")
  }
  const concurrency = readConcurrency(options)
  const { length } = items
  const results: Array<unknown> = []
  return new NativePromise((done, reject) => {
    let next = 0
    let active = 0
    let failure: { readonly error: unknown } | undefined
    const end = (): void => {
      active--
      startCalls()
    }
    const start = (index: number): void => {
      active++
      whenSettled(
        call(fn, getProperty(items, index), index),
        (value) => {
          defineProperty(results, index, { value, writable: true, enumerable: true, configurable: true })
          end()
        },
        (error) => {
          failure ??= { error }
          end()
        }
      )
    }
    const startCalls = (): void => {
      while (failure === undefined && active < concurrency && next < length) start(next++)
      if (active > 0) return
      if (failure === undefined) done(results)
      else reject(failure.error)
    }
    startCalls()
  })
}

/** Calls the function. An error that it throws rejects the promise. */
const call = (fn: object, item: unknown, index: number): Promise<unknown> =>
  new NativePromise((done) => done(typeof fn === "function" ? resolve(apply(fn, undefined, [item, index])) : undefined))

const readConcurrency = (options: unknown): number => {
  const given: unknown =
    typeof options === "object" && options !== null ? getProperty(options, "concurrency") : undefined
  if (given === undefined) return defaultConcurrency
  if (typeof given !== "number" || !isInteger(given) || given < 1 || given > concurrencyMax) {
    throw new NativeTypeError(`svc.all: concurrency must be an integer from 1 to ${concurrencyMax}`)
  }
  return given
}
