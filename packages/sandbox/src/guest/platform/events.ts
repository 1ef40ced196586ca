/** `Event`, `CustomEvent` and `EventTarget`. There is no tree: an event has one target. */
import { brand, defineConstants, requireArguments, requireOptions } from "./define.ts"
import { DOMException } from "./dom-exception.ts"
import { host } from "./host.ts"
import { report } from "./report.ts"

export interface EventInit {
  readonly bubbles?: boolean
  readonly cancelable?: boolean
  readonly composed?: boolean
}

const phases = { NONE: 0, CAPTURING_PHASE: 1, AT_TARGET: 2, BUBBLING_PHASE: 3 }

interface Dispatch {
  target: EventTarget | null
  current: EventTarget | null
  running: boolean
  stopped: boolean
  stoppedAtOnce: boolean
  canceled: boolean
  passive: boolean
  trusted: boolean
}

/** Returns the state of an event's dispatch; for `EventTarget` only. */
let dispatchOf: (event: Event) => Dispatch
/** Marks an event of the platform, and returns it. */
let trust: <A extends Event>(event: A) => A

function isTrusted(this: Event): boolean {
  return dispatchOf(this).trusted
}

export class Event {
  declare readonly isTrusted: boolean
  readonly #type: string
  readonly #init: Required<EventInit>
  readonly #time = host().now()
  readonly #dispatch: Dispatch = {
    target: null,
    current: null,
    running: false,
    stopped: false,
    stoppedAtOnce: false,
    canceled: false,
    passive: false,
    trusted: false
  }

  static {
    dispatchOf = (event) => event.#dispatch
    trust = (event) => {
      event.#dispatch.trusted = true
      return event
    }
  }

  constructor(type: string, init: EventInit = {}) {
    requireArguments(arguments, 1, "Event")
    requireOptions(init, "Event")
    Object.defineProperty(this, "isTrusted", { get: isTrusted, enumerable: true })
    this.#type = String(type)
    this.#init = {
      bubbles: Boolean(init?.bubbles),
      cancelable: Boolean(init?.cancelable),
      composed: Boolean(init?.composed)
    }
  }

  get type(): string {
    return this.#type
  }
  get target(): EventTarget | null {
    return this.#dispatch.target
  }
  get srcElement(): EventTarget | null {
    return this.#dispatch.target
  }
  get currentTarget(): EventTarget | null {
    return this.#dispatch.current
  }
  get eventPhase(): number {
    return this.#dispatch.current === null ? phases.NONE : phases.AT_TARGET
  }
  get bubbles(): boolean {
    return this.#init.bubbles
  }
  get cancelable(): boolean {
    return this.#init.cancelable
  }
  get composed(): boolean {
    return this.#init.composed
  }
  get defaultPrevented(): boolean {
    return this.#dispatch.canceled
  }
  get returnValue(): boolean {
    return !this.#dispatch.canceled
  }
  set returnValue(value: boolean) {
    if (!value) {
      this.preventDefault()
    }
  }
  get cancelBubble(): boolean {
    return this.#dispatch.stopped
  }
  set cancelBubble(value: boolean) {
    if (value) {
      this.stopPropagation()
    }
  }
  /** Milliseconds since the isolate started. */
  get timeStamp(): number {
    return this.#time
  }

  composedPath(): Array<EventTarget> {
    return this.#dispatch.current === null ? [] : [this.#dispatch.current]
  }
  stopPropagation(): void {
    this.#dispatch.stopped = true
  }
  stopImmediatePropagation(): void {
    this.#dispatch.stopped = true
    this.#dispatch.stoppedAtOnce = true
  }
  preventDefault(): void {
    if (this.#init.cancelable && !this.#dispatch.passive) {
      this.#dispatch.canceled = true
    }
  }
}

export class CustomEvent extends Event {
  readonly #detail: unknown

  constructor(type: string, init: EventInit & { readonly detail?: unknown } = {}) {
    super(type, init)
    this.#detail = init?.detail === undefined ? null : init.detail
  }

  get detail(): unknown {
    return this.#detail
  }
}

export type EventListener = ((event: Event) => unknown) | { handleEvent: (event: Event) => unknown }

export interface AddListenerOptions {
  readonly capture?: boolean
  readonly once?: boolean
  readonly passive?: boolean
  readonly signal?: EventTarget & { readonly aborted: boolean }
}

interface Registration {
  readonly type: string
  readonly listener: EventListener
  readonly capture: boolean
  readonly once: boolean
  readonly passive: boolean
  removed: boolean
}

export class EventTarget {
  #registrations: Array<Registration> = []

  addEventListener(type: string, listener: EventListener | null, options: AddListenerOptions | boolean = {}): void {
    const { capture = false, once = false, passive = false, signal } = flatten(options)
    if (signal !== undefined && !(signal instanceof EventTarget && "aborted" in signal)) {
      throw new TypeError("addEventListener: the signal is not an AbortSignal.")
    }
    if (listener === null || listener === undefined || signal?.aborted === true) {
      return
    }
    if (typeof listener !== "function" && typeof listener !== "object") {
      throw new TypeError("addEventListener: the listener is not an object.")
    }
    const name = String(type)
    if (this.#find(name, listener, Boolean(capture)) === undefined) {
      this.#registrations.push({
        type: name,
        listener,
        capture: Boolean(capture),
        once: Boolean(once),
        passive: Boolean(passive),
        removed: false
      })
    }
    signal?.addEventListener("abort", () => this.removeEventListener(name, listener, { capture }), { once: true })
  }

  removeEventListener(type: string, listener: EventListener | null, options: AddListenerOptions | boolean = {}): void {
    const found = listener && this.#find(String(type), listener, Boolean(flatten(options).capture))
    if (found) {
      this.#remove(found)
    }
  }

  dispatchEvent(event: Event): boolean {
    if (!(event instanceof Event)) {
      throw new TypeError("dispatchEvent: the argument is not an Event.")
    }
    const dispatch = dispatchOf(event)
    if (dispatch.running) {
      throw new DOMException("The event is already being dispatched", "InvalidStateError")
    }
    dispatch.running = true
    dispatch.target = this
    dispatch.current = this
    // Capturing listeners are called first. Listeners added during the dispatch are not called.
    const registrations = this.#registrations.filter((registration) => registration.type === event.type)
    for (const capture of [true, false]) {
      this.#call(
        event,
        dispatch,
        registrations.filter((registration) => registration.capture === capture)
      )
    }
    dispatch.running = false
    dispatch.current = null
    dispatch.stopped = false
    dispatch.stoppedAtOnce = false
    return !dispatch.canceled
  }

  #call(event: Event, dispatch: Dispatch, registrations: ReadonlyArray<Registration>): void {
    for (const registration of registrations) {
      if (dispatch.stoppedAtOnce) {
        return
      }
      if (registration.removed) {
        continue
      }
      if (registration.once) {
        this.#remove(registration)
      }
      const { listener } = registration
      dispatch.passive = registration.passive
      try {
        if (typeof listener === "function") {
          listener.call(this, event)
        } else {
          listener.handleEvent(event)
        }
      } catch (error) {
        report(error)
      }
      dispatch.passive = false
    }
  }

  #find(type: string, listener: EventListener, capture: boolean): Registration | undefined {
    return this.#registrations.find(
      (each) => each.type === type && each.listener === listener && each.capture === capture
    )
  }

  #remove(registration: Registration): void {
    registration.removed = true
    this.#registrations = this.#registrations.filter((each) => each !== registration)
  }
}

/** An event handler attribute, such as `onabort`. */
export class HandlerSlot {
  readonly #target: EventTarget
  readonly #type: string
  #handler: unknown = null

  constructor(target: EventTarget, type: string) {
    this.#target = target
    this.#type = type
  }

  get(): unknown {
    return this.#handler
  }

  set(handler: unknown): void {
    const isHandler = typeof handler === "function" || (typeof handler === "object" && handler !== null)
    if (isHandler && this.#handler === null) {
      this.#target.addEventListener(this.#type, this.#call)
    } else if (!isHandler) {
      this.#target.removeEventListener(this.#type, this.#call)
    }
    this.#handler = isHandler ? handler : null
  }

  readonly #call = (event: Event): void => {
    if (typeof this.#handler === "function" && Reflect.apply(this.#handler, this.#target, [event]) === false) {
      event.preventDefault()
    }
  }
}

export { trust }

const flatten = (options: AddListenerOptions | boolean | null): AddListenerOptions =>
  typeof options === "object" && options !== null ? options : { capture: Boolean(options) }

brand({ Event, CustomEvent, EventTarget })
defineConstants(Event, phases)
defineConstants(Event.prototype, phases)
