/** Bounded fan-out over items: the same rules as in the runtime. */

const defaultConcurrency = 10
const concurrencyMax = 1_000

/**
 * Calls `fn(item, index)` for each item. After a failure no further call starts; the promise rejects with the first error once
 * the started calls have ended.
 */
export const fanOut = async (items: unknown, fn: unknown, given: unknown): Promise<ReadonlyArray<unknown>> => {
  if (!Array.isArray(items) || typeof fn !== "function") {
    throw new TypeError("svc.all takes an array, a function, and { concurrency }")
  }
  const concurrency = given ?? defaultConcurrency
  if (
    typeof concurrency !== "number" ||
    !Number.isInteger(concurrency) ||
    concurrency < 1 ||
    concurrency > concurrencyMax
  ) {
    throw new TypeError(`svc.all: concurrency must be an integer from 1 to ${concurrencyMax}`)
  }
  const results: Array<unknown> = new Array(items.length)
  const failures: Array<unknown> = []
  let next = 0
  const work = async (): Promise<void> => {
    while (failures.length === 0 && next < items.length) {
      const index = next++
      try {
        results[index] = await Reflect.apply(fn, undefined, [items[index], index])
      } catch (error) {
        failures.push(error)
      }
    }
  }
  await Promise.all(Array.from({ length: Math.min(concurrency, items.length) }, work))
  if (failures.length > 0) throw failures[0]
  return results
}
