/** The events of the global object: `error`, for exceptions that no code caught. */
import { ErrorEvent } from "./error-events.ts"
import { type AddListenerOptions, type Event, type EventListener, EventTarget, trust } from "./events.ts"

const target = new EventTarget()

export const addEventListener = (
  type: string,
  listener: EventListener | null,
  options: AddListenerOptions | boolean = {}
): void => target.addEventListener(type, listener, options)

export const removeEventListener = (
  type: string,
  listener: EventListener | null,
  options: AddListenerOptions | boolean = {}
): void => target.removeEventListener(type, listener, options)

export const dispatchEvent = (event: Event): boolean => target.dispatchEvent(event)

type Handler = (...args: ReadonlyArray<unknown>) => unknown

const handlers = new Map<string, Handler>()

const isHandler = (value: unknown): value is Handler => typeof value === "function"

export const getHandler = (type: string): unknown => handlers.get(type) ?? null

/** Sets the handler of a type, which is one of its listeners. A value that is no function removes it. */
export const setHandler = (type: string, handler: unknown): void => {
  if (!isHandler(handler)) {
    handlers.delete(type)
    target.removeEventListener(type, callHandler)
    return
  }
  handlers.set(type, handler)
  target.addEventListener(type, callHandler)
}

/** Calls the handler of the event's type, whose result cancels the event: `true` of `onerror`, `false` of the others. */
const callHandler = (event: Event): void => {
  const handler = handlers.get(event.type)
  if (handler === undefined) {
    return
  }
  const isCancelled =
    event instanceof ErrorEvent && event.type === "error"
      ? handler(event.message, event.filename, event.lineno, event.colno, event.error) === true
      : handler(event) === false
  if (isCancelled) {
    event.preventDefault()
  }
}

const describe = (error: unknown): string => {
  try {
    return `Uncaught ${String(error)}`
  } catch {
    return "Uncaught exception"
  }
}

/** True while an error event is dispatched: an exception of its listeners causes no other. */
let isDispatching = false

/** Dispatches an error event; true if a listener or `onerror` handled the error. */
export const dispatchError = (error: unknown): boolean => {
  if (isDispatching) {
    return false
  }
  isDispatching = true
  try {
    const event = trust(new ErrorEvent("error", { message: describe(error), error, cancelable: true }))
    return !target.dispatchEvent(event)
  } finally {
    isDispatching = false
  }
}
