/** Globals that `node-inspect-extracted` needs while it loads. Isolates do not have them. */
const names = ["Atomics", "FinalizationRegistry", "SharedArrayBuffer", "WeakRef"].filter(
  (name) => !(name in globalThis)
)

export const addGlobals = (): void => {
  for (const name of names) {
    Object.defineProperty(globalThis, name, { value: class {}, configurable: true, writable: true })
  }
}

export const removeGlobals = (): void => {
  for (const name of names) Reflect.deleteProperty(globalThis, name)
}
