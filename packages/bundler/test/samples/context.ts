/** `AsyncLocalStorage` across awaits. Each function runs in Node and in the sandbox, with the same result. */
import { AsyncLocalStorage, AsyncResource } from "node:async_hooks"
import { setTimeout as sleep } from "node:timers/promises"

const storage = new AsyncLocalStorage<string>()
const other = new AsyncLocalStorage<number>()

const wait = async (name: string): Promise<ReadonlyArray<unknown>> => {
  const before = storage.getStore()
  await sleep(2)
  const between = storage.getStore()
  await Promise.resolve()
  return [name, before, between, storage.getStore(), other.getStore()]
}

export const concurrent = () =>
  Promise.all([
    storage.run("a", () => wait("first")),
    storage.run("b", () => other.run(1, () => wait("second"))),
    wait("third")
  ])

async function* generate() {
  yield storage.getStore()
  await sleep(1)
  yield storage.getStore()
}

export const generators = () =>
  storage.run("g", async () => {
    const seen: Array<unknown> = []
    for await (const value of generate()) seen.push(value)
    return [...seen, storage.exit(() => storage.getStore()), storage.getStore()]
  })

export const bound = async () => {
  const snapshot = storage.run("s", () => AsyncLocalStorage.snapshot())
  const resource = storage.run("r", () => new AsyncResource("test"))
  const timer = storage.run("t", () => new Promise((resolve) => setTimeout(() => resolve(storage.getStore()), 1)))
  const caught = storage.run("c", () => Promise.reject(new Error("no")).catch(() => storage.getStore()))
  return [
    snapshot(() => storage.getStore()),
    resource.runInAsyncScope(() => storage.getStore()),
    await timer,
    await caught,
    storage.getStore()
  ]
}
