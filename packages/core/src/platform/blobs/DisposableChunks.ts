/**
 * Chunks of streams whose memory is freed immediately after use.
 *
 * The garbage collector reacts late to memory outside its heap: some hundred megabytes may pass through a process
 * before it frees the first of them. The producer of a chunk may therefore mark it as disposable if it keeps no
 * reference. The consumer frees its memory after the last use. A chunk that is not disposed of is garbage-collected.
 */

const disposable = new WeakSet<Uint8Array>()

/** Marks a chunk as disposable. The caller must be its only owner and must not use it again. */
export const markDisposable = <A extends Uint8Array>(chunk: A): A => {
  // A buffer that is shared with other chunks, such as the pool of small buffers, must not be freed.
  if (chunk.length === chunk.buffer.byteLength) disposable.add(chunk)
  return chunk
}

/**
 * Frees the memory of a disposable chunk, which is empty afterwards; does nothing for other chunks. Call it when the
 * last byte has been passed on and the operating system no longer reads the memory.
 */
export const dispose = (chunk: Uint8Array): void => {
  if (disposable.delete(chunk) && chunk.buffer instanceof ArrayBuffer) chunk.buffer.transfer(0)
}
