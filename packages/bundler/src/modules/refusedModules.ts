/** Modules of Node that cannot exist in a function, with the few members that can. */
import { refusedModule } from "./refuse.ts"

const members: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  cluster: { isMaster: true, isPrimary: true, isWorker: false, workers: {} },
  v8: {
    getHeapStatistics: () => ({ heap_size_limit: 128 * 1024 * 1024, used_heap_size: 0, total_heap_size: 0 }),
    setFlagsFromString: () => undefined
  },
  worker_threads: {
    isMainThread: true,
    parentPort: null,
    threadId: 0,
    workerData: null,
    resourceLimits: {},
    markAsUncloneable: () => undefined,
    markAsUntransferable: () => undefined,
    isMarkedAsUntransferable: () => false,
    getEnvironmentData: () => undefined,
    setEnvironmentData: () => undefined
  }
}

export const refusedModules = (name: string): object => refusedModule(name, members[name])
