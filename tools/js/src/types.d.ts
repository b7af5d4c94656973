// What Python and the front end send to each other. ragnb/widgets/annotation_page.py makes the task, the page and the state;
// ragnb/widgets/handout.py makes the hand-out; ragnb/widgets/annotator.py receives the acts.

/** A field about the whole item (null), or about one of its sentences. */
export type Place = [field: string, sentence: string | null];

/** A label: the value of a choice or a text, or the keys of sentences or tags; null takes it away. */
export type Value = string | number | string[] | null;

/** Values by field, and by sentence where a field is asked of each. */
export type Values = Record<string, any>;

export interface Option {
  value: string | number;
  label: string;
  implies: Record<string, Value>;
  sign: string;
}

/** A change of the codebook. */
export interface CodebookChange {
  change: "add" | "rename" | "define" | "merge";
  tag: string;
  name?: string;
  definition?: string;
  into?: string;
}

export interface Field {
  name: string;
  label: string;
  kind: "choice" | "sentences" | "text" | "tags";
  key: string;
  each: boolean;
  of: string | null;
  required: boolean;
  options: Option[];
}

export interface Contradiction {
  message: string;
  [key: string]: any;
}

export interface Task {
  name: string;
  guideline: string;
  fields: Field[];
  unit: string;
  codebook: [name: string, definition: string][];
  contradictions: Contradiction[];
}

export interface Part {
  name: string;
  heading: string;
  sentences: [key: string, text: string][];
}

/** The item on the screen. */
export interface Page {
  number: number;
  history: [role: string, text: string][];
  question: string;
  references: string[];
  parts: Part[];
  keyed: string[];
  each: string[];
  places: Place[];
  options: Record<string, Option[]>;
}

/** The title, status and flag of an item, in the list of items. */
export type Entry = [title: string, status: string, isFlagged: boolean];

/** A tag with the number of items that have it. */
export type TagRow = [id: string, name: string, definition: string, count: number];

export interface Progress {
  items: number;
  labelled: number;
  started: number;
  skipped: number;
  untouched: number;
  flagged: number;
  seconds_left: number | null;
}

/** What may change with each act, and the answer to the last one. */
export interface State {
  values: Values;
  codebook: TagRow[];
  suggested: Values;
  suggested_by: string;
  others: { name: string; values: Values }[];
  missing: Place[];
  status: string;
  flag: boolean;
  note: string;
  can_undo: boolean;
  can_redo: boolean;
  progress: Progress;
  end: { text: string; code: string } | null;
  saved: string;
  ack: number;
  message: string;
  failed: boolean;
  entries: Record<number, Entry>;
}

/** A message of the browser. `pending` and `shown` have no number and no id. */
export interface Act {
  act: string;
  id?: number;
  number?: number;
  [content: string]: any;
}

/** A message of Python besides the state. */
export type Message = { kind: "focus" } | { kind: "pending"; question: number };

/** What the widgets use of the model of anywidget, which `LocalModel` has as well. */
export interface Model {
  get(name: string): any;
  set?(name: string, value: any): void;
  save_changes?(): void;
  on(event: string, handler: (...content: any[]) => void): void;
  off(event: string, handler?: (...content: any[]) => void): void;
  send?(act: Act): void;
}

/** A stored action of the hand-out. */
export interface Action extends Partial<CodebookChange> {
  key: string;
  time: string;
  action: "open" | "agreed" | "undo" | "redo" | "label" | "note" | "flag" | "skip" | "codebook";
  item: number;
  /** Key of the action that was undone or redone. */
  of?: string;
  /** Labels. */
  set?: { field: string; sentence?: string | null; value: Value }[];
  value?: any;
  [content: string]: any;
}

export interface HandoutItem {
  id: string;
  title: string;
  page: Page;
  pinned: Record<string, any>;
  suggested: [Place, Value][];
}

/** What ragnb writes into the mailed page. */
export interface Handout {
  header: Record<string, any> & { handout: string };
  annotator: string;
  task: Task;
  suggested_by: string;
  items: HandoutItem[];
}

/** A control of an explorable. */
export interface Control {
  label: string;
  values: string[];
  at: number;
  key?: string;
}
