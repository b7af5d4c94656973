// What Python and the front end send to each other. ragnb/widgets/annotation_page.py makes the task, the page and the state;
// ragnb/widgets/handout.py makes the hand-out; ragnb/widgets/annotator.py receives the acts.

/** A field about the whole item (null), or about one of its sentences. */
export type Place = [field: string, sentence: string | null];

/** The value of an option, or the key of a sentence or tag. */
export type Answer = string | number | boolean;

/** A label: the value of a choice, a text, or the keys of sentences or tags. */
export type Label = Answer | Answer[];

/** What an act or an action gives a place: a label, or null, which takes the label away. */
export type Value = Label | null;

/** Labels by field, and by sentence where a field is asked of each. */
export type Values = Record<string, Label | Record<string, Label>>;

export interface Option {
  value: Answer;
  label: string;
  implies: Record<string, Label>;
  sign: string;
}

/** A change of the codebook. */
export type CodebookChange =
  | { change: "add"; tag: string; name: string; definition?: string }
  | { change: "rename"; tag: string; name: string }
  | { change: "define"; tag: string; definition: string }
  | { change: "merge"; tag: string; into: string };

/** A change of a tag that is in the codebook. */
export type ChangeOfTag = Exclude<CodebookChange, { change: "add" }>;

export interface Field {
  name: string;
  label: string;
  kind: "choice" | "sentences" | "text" | "tags";
  key: string;
  each: boolean;
  /** The part whose sentences are chosen. */
  of: string;
  required: boolean;
  options: Option[];
}

/** Some answers, or whether any sentence or tag is chosen. */
export type Labels = Answer[] | "some" | "none";

/** Labels that cannot all be right: those of some fields, or a sentence that is in one field and not in another. */
export interface Contradiction {
  message: string;
  labels: Record<string, Labels>;
  some: Record<string, Labels>;
  every: Record<string, Labels>;
  chosen: string;
  not_chosen: string;
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

export type Status = "labelled" | "started" | "skipped" | "untouched";

/** The title, status and flag of an item, in the list of items. */
export type Entry = [title: string, status: Status, isFlagged: boolean];

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

/** The answer to an act. `ack` is the id of the act, and `message` a sentence for the annotator. */
export interface Answered {
  ack: number;
  message: string;
  failed: boolean;
}

/** What may change with each act, and the answer to the last one. */
export interface State extends Answered {
  values: Values;
  codebook: TagRow[];
  suggested: Values;
  suggested_by: string;
  others: { name: string; values: Values }[];
  missing: Place[];
  status: Status;
  flag: boolean;
  note: string;
  can_undo: boolean;
  can_redo: boolean;
  progress: Progress;
  end: { text: string; code: string } | null;
  saved: string;
  /** Lines of the list of items that have changed; none in a hand-out, which sends the whole list again. */
  entries: Record<number, Entry>;
}

/** What the annotator reads. */
export interface AnnotatorContent {
  task: Task;
  page: Page;
  state: State;
  jump: Entry[];
}

/** What each act of the annotator says. */
export interface Acts {
  label: { field: string; sentence?: string | null; value: Value };
  /** Adds keys, or removes them if all of them are chosen; `on` forces one of the two. */
  toggle: { field: string; sentence?: string | null; keys: Answer[]; on?: boolean | null };
  tag: { field: string; name: string };
  codebook: ChangeOfTag;
  note: { text: string };
  move: { step: number };
  go: { to: number };
  accept: Nothing;
  flag: Nothing;
  skip: Nothing;
  undo: Nothing;
  redo: Nothing;
  next: Nothing;
  done: Nothing;
}

type Nothing = Record<never, never>;

export type ActName = keyof Acts;

/** An act, with the number of the item that it is about. */
export type Act = { [Name in ActName]: { act: Name; id: number; number: number } & Acts[Name] }[ActName];

/**
 * What a view of the annotator sends besides acts: that it is on the screen, how many acts are not saved yet, and that it
 * was closed and which number of keys was lost with it.
 */
export type Signal =
  | { act: "shown"; view: number }
  | { act: "pending"; question: number; pending: number; view: number }
  | { act: "closed"; view: number; lost: number };

/** A message of Python besides the state; nothing has to be done after "heard". */
export type Message = { kind: "focus" } | { kind: "heard" } | { kind: "pending"; question: number };

/** What the widgets use of the model of anywidget, which `LocalModel` has as well. */
export interface Model<Content, Sent, Received> {
  get<Name extends keyof Content>(name: Name): Content[Name];
  /** Only handlers of "msg:custom" use what they are called with. */
  on(event: string, handler: (...messages: Received[]) => void): void;
  off(event: string, handler: (...messages: Received[]) => void): void;
  send(message: Sent): void;
}

/** The button that a page without a kernel shows when no item is left, and where it is before. */
export interface Finish {
  button: HTMLElement;
  home: HTMLElement;
}

export interface AnnotatorModel extends Model<AnnotatorContent, Act | Signal, Message> {
  finish?: Finish;
}

// ---- rows: ragnb/widgets/frame_view.py -------------------------------------------------------------------------------

/** The line of a row: the sign of its verdict, its text, and what distinguishes it. */
export type Row = [sign: string, text: string, details: string[]];

/** Rows from a position on. */
export interface Rows {
  first: number;
  rows: Row[];
}

/** A column whose values can be ticked. */
export interface Choices {
  name: string;
  values: string[];
}

/** What the list of rows reads, and writes. */
export interface RowsContent {
  offer: { total: number; sign_meaning: string; choices: Choices[]; sorts: [key: string, label: string][]; numbers: string[] };
  found: Rows & { version: number; count: number };
  search: string;
  sort: string;
  /** The numbers of the ticked values, by filter. */
  chosen: number[][];
  position: number;
}

export type RowsRequest = { kind: "prepare" } | { kind: "rows"; version: number; first: number; last: number };

export type RowsMessage = Rows & { kind: "rows"; version: number };

export interface RowsModel extends Model<RowsContent, RowsRequest, RowsMessage> {
  set(values: Partial<RowsContent>): void;
  save_changes(): void;
}

// ---- the hand-out ----------------------------------------------------------------------------------------------------

/** A label in an action, with its origin. */
export interface Entered {
  field: string;
  sentence?: string | null;
  value: Value;
  source?: string;
  suggested?: Label;
  suggested_by?: string;
}

/** What actions are about, besides an item. */
export interface ActionContents {
  open: Nothing;
  agreed: { set: Entered[] };
  label: { set: Entered[] };
  flag: { value: boolean };
  skip: { value: boolean };
  note: { value: string };
  codebook: CodebookChange;
  /** `of` is the key of the action that is undone or redone. */
  undo: { of: string };
  redo: { of: string };
}

export type ActionName = keyof ActionContents;

interface AnyAction {
  time: string;
  item: number;
  set?: Entered[];
  of?: string;
}

/** An action before it has its key. */
export type NewAction = { [Name in ActionName]: { action: Name } & AnyAction & ActionContents[Name] }[ActionName];

/** A stored action. */
export type Action = { key: string } & NewAction;

export interface HandoutItem {
  id: string;
  title: string;
  page: Page;
  /** What the file of labels says about an item that was shown: its id, fingerprint and sentences. */
  pinned: Record<string, unknown>;
  suggested: [Place, Label][];
}

/** What ragnb writes into the mailed page. */
export interface Handout {
  header: Record<string, unknown> & { handout: string; task: { name: string } };
  annotator: string;
  task: Task;
  suggested_by: string;
  items: HandoutItem[];
}

// ---- explorables: ragnb/explorables ----------------------------------------------------------------------------------

/** A slider over values, or, with a key, a button that marks the text with that key. */
export interface Control {
  label: string;
  values: string[];
  at: number;
  key: string;
  text: string;
}
