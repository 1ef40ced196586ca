/** Marks and measures of `performance`, and their observers. Each run has its own timeline. */
import { TaskQueue } from "./tasks.ts"

const { brand, requireArguments, requireOptions } = platform.define()
const { performance } = platform.performance()
const { structuredClone } = platform.structuredClone()
const { DOMException } = platform.domException()

/** Maximum entries of a run; beyond it, the oldest is removed. */
const entriesMax = 10_000

const internal: unique symbol = Symbol("PerformanceEntry")

const toTime = (value: unknown): number => {
  const time = Number(value)
  if (!Number.isFinite(time)) {
    throw new TypeError("The time must be a finite number of milliseconds.")
  }
  if (time < 0) {
    throw new TypeError("The time must not be negative.")
  }
  return time
}

export class PerformanceEntry {
  readonly #name: string
  readonly #type: string
  readonly #start: number
  readonly #duration: number

  constructor(key: symbol, name: string, type: string, start: number, duration: number) {
    if (key !== internal) {
      throw new TypeError("Illegal constructor")
    }
    this.#name = name
    this.#type = type
    this.#start = start
    this.#duration = duration
  }

  get name(): string {
    return this.#name
  }
  get entryType(): string {
    return this.#type
  }
  get startTime(): number {
    return this.#start
  }
  get duration(): number {
    return this.#duration
  }

  toJSON(): object {
    return { name: this.#name, entryType: this.#type, startTime: this.#start, duration: this.#duration }
  }
}

export interface MarkOptions {
  readonly detail?: unknown
  readonly startTime?: number
}

const cloneDetail = (detail: unknown): unknown =>
  detail === undefined || detail === null ? null : structuredClone(detail)

export class PerformanceMark extends PerformanceEntry {
  readonly #detail: unknown

  constructor(name: string, options: MarkOptions = {}) {
    requireArguments(arguments, 1, "PerformanceMark")
    requireOptions(options, "PerformanceMark")
    const start = options?.startTime
    super(internal, `${name}`, "mark", start === undefined ? performance.now() : toTime(start), 0)
    this.#detail = cloneDetail(options?.detail)
  }

  get detail(): unknown {
    return this.#detail
  }

  override toJSON(): object {
    return { ...super.toJSON(), detail: this.detail }
  }
}

export class PerformanceMeasure extends PerformanceEntry {
  readonly #detail: unknown

  constructor(key: symbol, name: string, start: number, duration: number, detail: unknown) {
    super(key, name, "measure", start, duration)
    this.#detail = detail
  }

  get detail(): unknown {
    return this.#detail
  }

  override toJSON(): object {
    return { ...super.toJSON(), detail: this.detail }
  }
}

interface Timeline {
  entries: Array<PerformanceEntry>
  readonly observers: Set<PerformanceObserver>
}

const timelines = new WeakMap<object, Timeline>()

const timeline = (): Timeline => {
  const run = platform.host().host().scope()
  const known = timelines.get(run)
  if (known !== undefined) {
    return known
  }
  const created: Timeline = { entries: [], observers: new Set() }
  timelines.set(run, created)
  return created
}

const inOrder = (entries: ReadonlyArray<PerformanceEntry>): Array<PerformanceEntry> =>
  entries.toSorted((a, b) => a.startTime - b.startTime)

const select = (entries: ReadonlyArray<PerformanceEntry>, name: unknown, type: unknown): Array<PerformanceEntry> =>
  inOrder(
    entries.filter(
      (entry) =>
        (name === undefined || entry.name === `${name}`) && (type === undefined || entry.entryType === `${type}`)
    )
  )

const add = <A extends PerformanceEntry>(entry: A): A => {
  const { entries, observers } = timeline()
  entries.push(entry)
  if (entries.length > entriesMax) {
    entries.shift()
  }
  for (const observer of observers) {
    notify(observer, entry)
  }
  return entry
}

const findMark = (given: unknown): number => {
  if (typeof given === "number") {
    return toTime(given)
  }
  const name = `${given}`
  const mark = timeline().entries.findLast((entry) => entry.entryType === "mark" && entry.name === name)
  if (mark === undefined) {
    throw new DOMException(`The mark '${name}' does not exist`, "SyntaxError")
  }
  return mark.startTime
}

export interface MeasureOptions {
  readonly start?: string | number
  readonly end?: string | number
  readonly duration?: number
  readonly detail?: unknown
}

const readMeasureOptions = (given: unknown, end: unknown): MeasureOptions => {
  if (typeof given !== "object" || given === null) {
    return {}
  }
  const options: MeasureOptions = given
  const isEmpty = [options.start, options.end, options.duration, options.detail].every((value) => value === undefined)
  if (isEmpty) {
    return {}
  }
  if (end !== undefined && end !== null) {
    throw new TypeError("performance.measure: the end must be part of the options.")
  }
  if (options.start === undefined && options.end === undefined) {
    throw new TypeError("performance.measure: the options must have a start or an end.")
  }
  if (options.start !== undefined && options.end !== undefined && options.duration !== undefined) {
    throw new TypeError("performance.measure: the options must not have a start, an end and a duration.")
  }
  return options
}

const measureEnd = (end: unknown, { start, end: given, duration }: MeasureOptions): number => {
  if (end !== undefined && end !== null) {
    return findMark(end)
  }
  if (given !== undefined) {
    return findMark(given)
  }
  return start !== undefined && duration !== undefined ? findMark(start) + toTime(duration) : performance.now()
}

const measureStart = (given: unknown, end: number, { start, duration }: MeasureOptions): number => {
  if (start !== undefined) {
    return findMark(start)
  }
  if (duration !== undefined) {
    return end - toTime(duration)
  }
  return given === undefined || typeof given === "object" ? 0 : findMark(given)
}

const clear = (type: string, name: unknown): void => {
  const line = timeline()
  line.entries = line.entries.filter(
    (entry) => entry.entryType !== type || (name !== undefined && entry.name !== `${name}`)
  )
}

/** The methods of `Performance` that this module adds. */
export const methods = {
  mark(name: string, options: MarkOptions = {}): PerformanceMark {
    return add(new PerformanceMark(name, options))
  },
  measure(
    name: string,
    startOrOptions: unknown = undefined,
    end: string | number | undefined = undefined
  ): PerformanceMeasure {
    const options = readMeasureOptions(startOrOptions, end)
    const to = measureEnd(end, options)
    const from = measureStart(startOrOptions, to, options)
    return add(new PerformanceMeasure(internal, `${name}`, from, to - from, cloneDetail(options.detail)))
  },
  clearMarks(name: string | undefined = undefined): void {
    clear("mark", name)
  },
  clearMeasures(name: string | undefined = undefined): void {
    clear("measure", name)
  },
  getEntries(): Array<PerformanceEntry> {
    return inOrder(timeline().entries)
  },
  getEntriesByType(type: string): Array<PerformanceEntry> {
    return select(timeline().entries, undefined, type)
  },
  getEntriesByName(name: string, type: string | undefined = undefined): Array<PerformanceEntry> {
    return select(timeline().entries, name, type)
  }
}

export class PerformanceObserverEntryList {
  readonly #entries: ReadonlyArray<PerformanceEntry>

  constructor(key: symbol, entries: ReadonlyArray<PerformanceEntry>) {
    if (key !== internal) {
      throw new TypeError("Illegal constructor")
    }
    this.#entries = inOrder(entries)
  }

  getEntries(): Array<PerformanceEntry> {
    return [...this.#entries]
  }
  getEntriesByType(type: string): Array<PerformanceEntry> {
    return select(this.#entries, undefined, type)
  }
  getEntriesByName(name: string, type: string | undefined = undefined): Array<PerformanceEntry> {
    return select(this.#entries, name, type)
  }
}

const entryTypes: ReadonlyArray<string> = Object.freeze(["mark", "measure"])

export interface ObserveOptions {
  readonly entryTypes?: Iterable<string>
  readonly type?: string
  readonly buffered?: boolean
}

type ObserverCallback = (
  list: PerformanceObserverEntryList,
  observer: PerformanceObserver,
  options: { readonly droppedEntriesCount: number }
) => unknown

let notify: (observer: PerformanceObserver, entry: PerformanceEntry) => void

export class PerformanceObserver {
  readonly #callback: ObserverCallback
  readonly #tasks = new TaskQueue()
  #types: ReadonlyArray<string> = []
  #kind: "multiple" | "single" | null = null
  #entries: Array<PerformanceEntry> = []

  static {
    notify = (observer, entry) => {
      if (!observer.#types.includes(entry.entryType)) {
        return
      }
      observer.#entries.push(entry)
      if (observer.#entries.length === 1) {
        observer.#tasks.add(() => observer.#flush())
      }
    }
  }

  constructor(callback: ObserverCallback) {
    if (typeof callback !== "function") {
      throw new TypeError("PerformanceObserver constructor: the callback is not a function.")
    }
    this.#callback = callback
  }

  static get supportedEntryTypes(): ReadonlyArray<string> {
    return entryTypes
  }

  observe(options: ObserveOptions = {}): void {
    const { entryTypes: listed, type, buffered } = options ?? {}
    if (listed === undefined && type === undefined) {
      throw new TypeError("PerformanceObserver.observe: the options must have entryTypes or a type.")
    }
    if (listed !== undefined && typeof listed !== "object") {
      throw new TypeError("PerformanceObserver.observe: entryTypes must be a list.")
    }
    if (listed !== undefined && (type !== undefined || buffered !== undefined)) {
      throw new TypeError("PerformanceObserver.observe: entryTypes allows no other option.")
    }
    const kind = listed === undefined ? "single" : "multiple"
    if (this.#kind !== null && this.#kind !== kind) {
      throw new DOMException("The observer observes entryTypes or single types, not both", "InvalidModificationError")
    }
    this.#kind = kind
    const wanted = listed === undefined ? [`${type}`] : [...listed].map(String)
    const known = wanted.filter((each) => entryTypes.includes(each))
    if (known.length === 0) {
      return
    }
    this.#types = kind === "single" ? [...new Set([...this.#types, ...known])] : known
    const line = timeline()
    line.observers.add(this)
    if (buffered === true) {
      for (const entry of select(line.entries, undefined, type)) {
        notify(this, entry)
      }
    }
  }

  disconnect(): void {
    timeline().observers.delete(this)
    this.#types = []
    this.#entries = []
    this.#kind = null
  }

  takeRecords(): Array<PerformanceEntry> {
    const entries = this.#entries
    this.#entries = []
    return entries
  }

  #flush(): void {
    const entries = this.takeRecords()
    if (entries.length > 0) {
      this.#callback.call(this, new PerformanceObserverEntryList(internal, entries), this, { droppedEntriesCount: 0 })
    }
  }
}

brand({ PerformanceEntry, PerformanceMark, PerformanceMeasure, PerformanceObserver, PerformanceObserverEntryList })

// Guests cannot construct these.
for (const constructor of [PerformanceEntry, PerformanceMeasure, PerformanceObserverEntryList]) {
  Object.defineProperty(constructor, "length", { value: 0, configurable: true })
}
