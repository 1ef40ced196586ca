/** Two ways to send the queue of a subscription: pulled by a stream, or written to a Node response. */
import type { ServerResponse } from "node:http"
import type { Subscription } from "@weft/core/internal"
import { Cause, Effect } from "effect"
import type { SseQueue } from "./SseQueue.ts"

/** Pulls one chunk at a time. A stream pulls the next chunk when the connection accepted the previous one. */
export const pullChunks = (
  subscription: Subscription,
  queue: SseQueue
): Effect.Effect<readonly [Uint8Array], Cause.Done> => {
  const next: Effect.Effect<readonly [Uint8Array], Cause.Done> = Effect.suspend(() => {
    const chunk = queue.next()
    if (chunk !== null) return Effect.succeed([chunk] as const)
    if (queue.isEnded) return Cause.done()
    return Effect.flatMap(subscription.take, (taken) => {
      queue.add(taken)
      return next
    })
  })
  return next
}

/**
 * Writes chunks to a response whose headers are sent, and resolves when the subscription has ended.
 *
 * It uses callbacks instead of a fiber. One message may go to a thousand subscribers, and waking a fiber for each would
 * take as long as the write itself.
 */
export const writeChunks = (
  subscription: Subscription,
  queue: SseQueue,
  response: ServerResponse
): Effect.Effect<void> =>
  Effect.callback((resume) => {
    let stop = (): void => undefined

    /** Returns true if the queue is empty, and false if the connection applies back-pressure. */
    const writeUntilFull = (): boolean => {
      for (let chunk = queue.next(); chunk !== null; chunk = queue.next()) {
        if (!response.write(chunk)) return false
      }
      return true
    }
    const writeAvailable = (): void => {
      while (writeUntilFull()) {
        if (queue.isEnded) {
          resume(Effect.void)
          return
        }
        const taken = subscription.takeNow()
        if (taken === null) {
          stop = subscription.onceReady(resumeWriting)
          return
        }
        queue.add(taken)
      }
      response.once("drain", resumeWriting)
      stop = () => response.off("drain", resumeWriting)
    }
    const resumeWriting = (): void => {
      const { socket } = response
      // Corking sends all chunks in one system call.
      socket?.cork()
      try {
        writeAvailable()
      } catch (defect) {
        resume(Effect.die(defect))
      } finally {
        socket?.uncork()
      }
    }
    resumeWriting()
    return Effect.sync(() => stop())
  })
