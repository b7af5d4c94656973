var explorables=(()=>{var f=Object.defineProperty;var v=Object.getOwnPropertyDescriptor;var w=Object.getOwnPropertyNames;var y=Object.prototype.hasOwnProperty;var k=(e,n)=>{for(var t in n)f(e,t,{get:n[t],enumerable:!0})},E=(e,n,t,r)=>{if(n&&typeof n=="object"||typeof n=="function")for(let o of w(n))!y.call(e,o)&&o!==t&&f(e,o,{get:()=>n[o],enumerable:!(r=v(n,o))||r.enumerable});return e};var A=e=>E(f({},"__esModule",{value:!0}),e);var U={};k(U,{start:()=>N});var g=`/* An explorable takes the colour of the text around it, so that it fits light and dark pages. */
:host { display: block; max-width: 660px; }
slot { display: none; }
.live { --line: color-mix(in srgb, currentColor 45%, transparent); --blue: #2f86c9; --orange: #dd6a1f; line-height: 1.45; }
.live * { box-sizing: border-box; }
.live p { margin: 0 0 8px; }
.question { font-weight: 600; }
.controls { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(17em, 100%), 1fr)); gap: 6px 18px; }
.control { display: grid; grid-template-columns: 1fr 4em; gap: 2px 8px; align-items: center; padding: 3px 6px; border-inline-start: 3px solid var(--line); }
.control span { grid-column: 1 / -1; font-size: 0.92em; }
input { accent-color: var(--blue); width: 100%; min-width: 0; min-height: 24px; margin: 0; }
output { font-variant-numeric: tabular-nums; }
button { font: inherit; color: inherit; background: transparent; min-height: 28px; cursor: pointer; border: 1px solid var(--line); border-radius: 4px; padding: 2px 6px; }
button[aria-pressed="true"] { border-color: var(--blue); box-shadow: inset 0 0 0 1px var(--blue); font-weight: 600; }
:focus-visible { outline: 2px solid var(--blue); outline-offset: 2px; }
.text { grid-column: 1 / -1; display: flex; flex-wrap: wrap; gap: 2px 8px; align-items: center; }
.words { flex: 1 1 14em; }
.meter { display: grid; grid-template-columns: 7em 1fr 3em; gap: 8px; align-items: center; margin: 3px 0; }
progress { width: 100%; height: 0.9em; accent-color: var(--blue); }
.figure { margin: 8px 0; }
.live .figure p { margin: 3px 0; }
.good { border-inline-start: 3px solid #009e73; padding-inline-start: 8px; }
.bad { border-inline-start: 3px solid #d55e00; padding-inline-start: 8px; }
.reply { border: 1px solid var(--line); border-radius: 4px; padding: 2px 8px; }
.live .sentence { margin: 0; }
img { max-width: 100%; }
.chart { display: grid; grid-template-columns: 1.5em 1fr; gap: 0 2.6em; font-size: 0.86em; margin-top: 1em; }
.beside { writing-mode: vertical-lr; transform: rotate(180deg); text-align: center; }
.plot { position: relative; height: 15em; border: solid var(--line); border-width: 0 0 1px 1px; }
.plot span { position: absolute; white-space: nowrap; }
.plot .tick-x { transform: translate(-50%, 2px); }
.plot .tick-y { transform: translate(calc(-100% - 5px), -50%); }
.plot .note { transform: translateY(-50%); white-space: pre; }
.plot .note-end { transform: translate(-100%, -50%); white-space: pre; }
.below { grid-column: 2; text-align: center; margin-top: 1.6em; }
svg { position: absolute; inset: 0; width: 100%; height: 100%; overflow: hidden; }
path { fill: none; vector-effect: non-scaling-stroke; }
.bar { fill: currentColor; fill-opacity: 0.32; }
.marked { fill: var(--orange); }
.area { fill: var(--blue); fill-opacity: 0.16; }
.here, .result { stroke: var(--blue); stroke-width: 2.5; }
.axis { stroke: var(--line); }
.truth { stroke: currentColor; stroke-dasharray: 4 4; }
.dot { stroke: var(--orange); stroke-width: 9; stroke-linecap: round; }
@media print { .live { display: none; } slot { display: contents; } }
`;function x(e){let n=0;for(let{values:t,at:r}of e)n=n*t.length+r;return n}function h({meters:e,average:n},t){let r=[],o=[],s=0;for(let{name:l,table:c}of e){let[p,d,u]=T(c,t);r.push(p),o.push([l,d]),s+=u}let a=s/e.length;return r.push(n.replace("{}",S(a))),{sentence:r.join(" "),lines:[],meters:o}}function S(e){return(Math.floor(e*1e3+.5)/1e3).toFixed(3)}function T(e,n){let t=e;for(;!Array.isArray(t);)t=t.entries[L(t.labels,n)];return t}function L(e,n){let[t,...r]=e.map(o=>P(o,n));return t.filter(o=>r.every(s=>s.includes(o))).length}function P(e,n){return n.filter(r=>r.label===e&&r.at>0).map(({key:r})=>r)}function i(e,n={},...t){let r=document.createElement(e);for(let[o,s]of Object.entries(n))O(r,o,s);return r.append(...t.filter(o=>o!==null)),r}function O(e,n,t){let r=t===!1||t===null||t===void 0;n==="class"?e.className=t:n.startsWith("on")?e.addEventListener(n.slice(2),t):r||e.setAttribute(n,t===!0?"":t)}var j="http://www.w3.org/2000/svg";async function N(e,n){let{question:t,heading:r,controls:o,frames:s,counts:a}=await q(n),l=i("div",{class:"figure"}),c=i("p",{class:"sentence",role:"status"}),p=()=>{let m=s?s[x(o)]:h(a,o);c.textContent=m.sentence,l.replaceChildren(...F(m))},d=i("section",{class:"live","aria-label":t},i("p",{class:"question"},t),i("p",{dir:"auto"},r),z(o,p),l,c),u=e.attachShadow({mode:"open"});u.append(i("style",{},g),d,i("slot")),e.dataset.lmSuppressShortcuts="true",u.addEventListener("keydown",m=>m.stopPropagation()),p()}async function q(e){let n=Uint8Array.from(atob(e),r=>r.charCodeAt(0)),t=new Blob([n]).stream().pipeThrough(new DecompressionStream("gzip"));return new Response(t).json()}function z(e,n){let t=e.filter(({key:s})=>!s).map(s=>B(s,n)),r=new Map;for(let s of e.filter(({key:a})=>a)){let a=r.get(s.key)??[];r.set(s.key,[...a,s])}let o=[...r].map(([s,a])=>{let l=i("span",{class:"words",dir:"auto"},a[0].text),c=a.map(p=>$(p,n));return i("div",{class:"text"},i("span",{},s),l,...c)});return i("div",{class:"controls"},...t,...o)}function B(e,n){let{label:t,values:r,at:o}=e,s=i("output",{"aria-hidden":"true"}),a=i("input",{type:"range",min:0,max:r.length-1,value:o,"aria-label":t}),l=()=>{e.at=a.valueAsNumber;let c=r[e.at];s.textContent=c,a.ariaValueText=c};return a.addEventListener("input",()=>{l(),n()}),l(),i("div",{class:"control"},i("span",{"aria-hidden":"true"},t),a,s)}function $(e,n){let{label:t,text:r}=e,o={type:"button","aria-label":`${t}: ${r}`,"aria-pressed":String(e.at>0)},s=i("button",o,t);return s.addEventListener("click",()=>{e.at=1-e.at,s.ariaPressed=String(e.at>0),n()}),s}function F({lines:e,meters:n,chart:t,picture:r,sentence:o}){let s=e.map(([a,l])=>i("p",{class:a,dir:"auto"},l));return s.push(...n.map(G)),t&&s.push(I(t)),r&&s.push(i("img",{src:r,alt:o})),s}function G([e,n]){let t=[i("span",{},e),i("progress",{value:n}),i("span",{},n)];return i("div",{class:"meter","aria-hidden":"true"},...t)}function I({x:e,y:n,paths:t,texts:r}){let o=b("svg",{viewBox:"0 0 1 1",preserveAspectRatio:"none"});o.append(...t.map(([a,l])=>b("path",{class:a,d:l})));let s=r.map(([a,l,c,p])=>{let d=i("span",{class:a},p);return d.style.left=`${100*l}%`,d.style.top=`${100*c}%`,d});return i("div",{class:"chart",dir:"ltr","aria-hidden":"true"},i("span",{class:"beside"},n),i("div",{class:"plot"},o,...s),i("span",{class:"below"},e))}function b(e,n){let t=document.createElementNS(j,e);for(let[r,o]of Object.entries(n))t.setAttribute(r,o);return t}return A(U);})();
