/** Short confirmations, which screen readers read out. */
import { createSignal, For, type JSX } from "solid-js"

interface Toast {
  readonly id: number
  readonly text: string
}

const [toasts, setToasts] = createSignal<ReadonlyArray<Toast>>([])

let nextId = 0
const shownMs = 5000

export const showToast = (text: string): void => {
  const id = nextId++
  setToasts((shown) => [...shown, { id, text }])
  setTimeout(() => setToasts((shown) => shown.filter((toast) => toast.id !== id)), shownMs)
}

export const Toasts = (): JSX.Element => (
  <div class="toasts" role="status" aria-live="polite">
    <For each={toasts()}>{({ text }) => <div class="toast">{text}</div>}</For>
  </div>
)
