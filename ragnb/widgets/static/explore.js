var explorables=(()=>{var v=Object.defineProperty;var E=Object.getOwnPropertyDescriptor;var j=Object.getOwnPropertyNames;var A=Object.prototype.hasOwnProperty;var C=(e,a)=>{for(var i in a)v(e,i,{get:a[i],enumerable:!0})},L=(e,a,i,r)=>{if(a&&typeof a=="object"||typeof a=="function")for(let t of j(a))!A.call(e,t)&&t!==i&&v(e,t,{get:()=>a[t],enumerable:!(r=E(a,t))||r.enumerable});return e};var S=e=>L(v({},"__esModule",{value:!0}),e);var $={};C($,{start:()=>T});var w=`/* An explorable takes the colour of the text around it, so that it fits light and dark pages. */
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
`;function n(e,a={},...i){let r=document.createElement(e);for(let[t,s]of Object.entries(a))t==="class"?r.className=s:t.startsWith("on")?r.addEventListener(t.slice(2),s):s!==!1&&s!==null&&s!==void 0&&r.setAttribute(t,s===!0?"":s);return r.append(...i.filter(t=>t!==null)),r}async function T(e,a){let i=Uint8Array.from(atob(a),o=>o.charCodeAt(0)),{question:r,heading:t,controls:s,frames:l,counts:p}=await new Response(new Blob([i]).stream().pipeThrough(new DecompressionStream("gzip"))).json(),g=n("div",{class:"figure"}),h=n("p",{class:"sentence",role:"status"}),m=()=>{let o=s.reduce((f,{values:x,at:k})=>f*x.length+k,0),d=l?l[o]:N(p,s);h.textContent=d.sentence,g.replaceChildren(...d.lines.map(([f,x])=>n("p",{class:f,dir:"auto"},x)),...d.meters.map(([f,x])=>n("div",{class:"meter","aria-hidden":"true"},n("span",{},f),n("progress",{value:x}),n("span",{},x))),...d.chart?[P(d.chart)]:[],...d.picture?[n("img",{src:d.picture,alt:d.sentence})]:[])},b=Map.groupBy(s.filter(({key:o})=>o),({key:o})=>o),c=n("div",{class:"controls"},...s.filter(({key:o})=>!o).map(o=>z(o,m)),...[...b].map(([o,d])=>n("div",{class:"text"},n("span",{},o),n("span",{class:"words",dir:"auto"},d[0].text),...d.map(f=>B(f,m))))),u=e.attachShadow({mode:"open"});u.append(n("style",{},w),n("section",{class:"live","aria-label":r},n("p",{class:"question"},r),n("p",{dir:"auto"},t),c,g,h),n("slot")),e.dataset.lmSuppressShortcuts="true",u.addEventListener("keydown",o=>o.stopPropagation()),m()}function z(e,a){let{label:i,values:r,at:t}=e,s=n("output",{"aria-hidden":"true"}),l=n("input",{type:"range",min:0,max:r.length-1,value:t,"aria-label":i}),p=()=>{e.at=l.valueAsNumber,l.ariaValueText=s.textContent=r[e.at]};return l.addEventListener("input",()=>{p(),a()}),p(),n("div",{class:"control"},n("span",{"aria-hidden":"true"},i),l,s)}function B(e,a){let{label:i,text:r}=e,t=n("button",{type:"button","aria-label":`${i}: ${r}`,"aria-pressed":String(e.at>0)},i);return t.addEventListener("click",()=>{e.at=1-e.at,t.ariaPressed=String(e.at>0),a()}),t}function N(e,a){let i=c=>a.filter(({label:u,at:o})=>u===c&&o).map(({key:u})=>u),[r,t,s]=["relevant","used","unsupported"].map(i),l=r.filter(c=>t.includes(c)),p=e.utilization,g={relevance:e.relevance[r.length],utilization:p[Math.min(r.length,p.length-1)][t.length],completeness:e.completeness[r.length][r.length?l.length:t.length],adherence:e.adherence[s.length]},h=Object.values(g).reduce((c,[,,u])=>c+u,0),m=(Math.floor(h/4*1e3+.5)/1e3).toFixed(3);return{sentence:[...Object.values(g).map(([c])=>c),e.average.replace("{}",m)].join(" "),lines:[],meters:Object.entries(g).map(([c,[,u]])=>[c,u])}}function P({x:e,y:a,paths:i,texts:r}){let t=y("svg",{viewBox:"0 0 1 1",preserveAspectRatio:"none"});t.append(...i.map(([l,p])=>y("path",{class:l,d:p})));let s=r.map(([l,p,g,h])=>{let m=n("span",{class:l},h);return[m.style.left,m.style.top]=[`${100*p}%`,`${100*g}%`],m});return n("div",{class:"chart",dir:"ltr","aria-hidden":"true"},n("span",{class:"beside"},a),n("div",{class:"plot"},t,...s),n("span",{class:"below"},e))}function y(e,a){let i=document.createElementNS("http://www.w3.org/2000/svg",e);for(let[r,t]of Object.entries(a))i.setAttribute(r,t);return i}return S($);})();
